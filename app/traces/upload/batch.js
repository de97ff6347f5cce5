// All files that were chosen: one is sent at a time, the first into a new comparison of traces, the others into the same.

class Batch {
  constructor(root) {
    this.root = root;
    this.uploads = [];
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

  // Once all of a choice has ended, a new one begins a new comparison: what was compared before stands in History.
  add(files) {
    if (this.uploads.every((upload) => upload.ended)) this.begin();
    for (const file of files) {
      const upload = new Upload(file, this.settings, (changed) => this.changed(changed));
      this.uploads.push(upload);
      this.part(".files").append(upload.row);
    }
    this.next();
  }

  begin() {
    this.uploads = [];
    this.part(".files").replaceChildren();
    this.part(".end").replaceChildren();
  }

  get sending() {
    return this.uploads.some((upload) => upload.state === "sending");
  }

  get comparison() {
    return this.uploads.find((upload) => upload.comparison)?.comparison;
  }

  next() {
    if (!this.sending) this.uploads.find((upload) => upload.state === "waiting")?.send(this.comparison);
  }

  changed(upload) {
    if (upload.state === "sending") return;
    this.part("output").textContent = `${upload.name}: ${stateText(upload)}`;
    this.next();
    if (!this.comparison || this.uploads.some((each) => each.onItsWay)) return;
    if (this.uploads.every((each) => each.ended)) this.conclude();
    else this.offer("Open their page, which fills as they are read");
  }

  // Opened at once where all went well; where something was refused, its reason stays and the rest is offered.
  conclude() {
    const read = this.uploads.filter((upload) => upload.state === "done").length;
    this.part(".end").replaceChildren();
    if (!read) return;
    this.offer(read > 1 ? `Open the comparison of ${read} traces` : "Open the trace");
    if (this.root.isConnected && read === this.uploads.length) window.location.assign(this.address);
  }

  get address() {
    return `${this.settings.page}?id=${this.comparison}`;
  }

  offer(words) {
    this.part(".end").replaceChildren(element("a", { href: this.address }, words));
  }
}
