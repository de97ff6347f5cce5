// All files that were chosen: one is sent at a time, and those that arrived become one comparison of traces.

class Batch {
  constructor(root) {
    this.root = root;
    this.uploads = [];
    this.made = null;
    this.part = (name) => root.querySelector(name);
    this.listen();
  }

  update(settings) {
    this.settings = settings;
    this.part(".accepted").textContent = settings.accepted;
  }

  listen() {
    const drop = this.part(".drop"), input = this.part("input");
    this.part(".pick").addEventListener("click", () => input.click());
    input.addEventListener("change", () => { this.add([...input.files]); input.value = ""; });
    for (const name of ["dragenter", "dragover"]) drop.addEventListener(name, (event) => this.over(event, true));
    for (const name of ["dragleave", "drop"]) drop.addEventListener(name, (event) => this.over(event, false));
    drop.addEventListener("drop", (event) => this.add([...event.dataTransfer.files]));
    window.addEventListener("beforeunload", (event) => { if (this.sending) event.preventDefault(); });
  }

  over(event, lit) {
    event.preventDefault();
    this.part(".drop").classList.toggle("lit", lit);
  }

  add(files) {
    if (this.made !== null) this.begin();
    for (const file of files) {
      const upload = new Upload(file, this.settings, (changed) => this.changed(changed));
      this.uploads.push(upload);
      this.part(".files").append(upload.row);
    }
    this.next();
  }

  // What was compared before stands in History; a new choice begins a new comparison.
  begin() {
    this.uploads = [];
    this.made = null;
    this.part(".files").replaceChildren();
    this.part(".end").replaceChildren();
  }

  get sending() {
    return this.uploads.some((upload) => upload.state === "sending");
  }

  next() {
    if (this.sending) return;
    const waiting = this.uploads.find((upload) => upload.state === "waiting");
    if (waiting) waiting.send();
    else this.compare();
  }

  changed(upload) {
    if (upload.state !== "sending") this.part("output").textContent = `${upload.file.name}: ${stateText(upload)}`;
    if (upload.state !== "sending") this.next();
    this.conclude();
  }

  get arrived() {
    return [...new Map(this.uploads.filter((upload) => upload.id).map((upload) => [upload.id, upload])).values()];
  }

  // As soon as all is sent, so that it is there for whoever leaves this page meanwhile.
  async compare() {
    const { traces, most_files: most } = this.settings, compared = this.arrived.slice(0, most);
    if (this.made !== null || !compared.length) return;
    this.made = {};
    const body = { traces: compared.map(({ id }) => ({ kind: "import", id })), name: batchName(compared) };
    const headers = { "Content-Type": "application/json" };
    try {
      const answer = await fetch(`${traces}/comparisons`, { method: "POST", headers, body: JSON.stringify(body) });
      const told = parsed(await answer.text());
      this.made = answer.ok ? { id: told.id, left: this.arrived.length - compared.length } : { error: told?.error ?? `the server answered ${answer.status}` };
    } catch {
      this.made = { error: "the connection was lost; the files are in History’s list of traces" };
    }
    this.conclude();
  }

  conclude() {
    const end = this.part(".end");
    if (this.made?.error) return end.replaceChildren(element("span", { className: "wrong" }, this.made.error));
    if (!this.made?.id || !this.uploads.every((upload) => upload.ended)) return;
    const address = `${this.settings.page}?id=${this.made.id}`;
    const many = this.arrived.filter((upload) => upload.state === "done").length;
    if (!many) return;
    const words = many > 1 ? `Open the comparison of ${many} traces` : "Open the trace";
    const left = this.made.left ? ` ${this.made.left} more are in History: ${this.settings.most_files} stand side by side at most.` : "";
    end.replaceChildren(element("a", { href: address }, words), left);
    if (this.root.isConnected && this.uploads.every((upload) => upload.state === "done") && !left) window.location.assign(address);
  }
}
