// One file: sent with its progress, then followed until a worker has read it. `changed` hears of every new state.

const POLL_MS = 1_000, FIRST_POLL_MS = 300;
const ENDED = ["done", "failed", "refused", "cancelled"];

class Upload {
  constructor(file, settings, changed) {
    Object.assign(this, { file, settings, changed, state: "waiting", sent: 0, speed: 0, since: performance.now() });
    this.name = printable(file.name);
    this.parts();
  }

  parts() {
    this.bar = element("progress", { max: 1, value: 0, "aria-label": `Sending ${this.name}` });
    this.said = element("span", { className: "state" });
    this.button = element("button", { type: "button" });
    this.button.addEventListener("click", () => (this.state === "refused" ? this.again() : this.cancel()));
    const name = element("code", { title: this.name }, this.name);
    this.row = element("li", {}, element("div", { className: "line" }, name, this.button), this.bar, this.said);
    this.draw();
  }

  get ended() {
    return ENDED.includes(this.state);
  }

  get onItsWay() {
    return this.state === "waiting" || this.state === "sending";
  }

  // Into this comparison, or into a new one. Where the file would be refused for its size anyway it is not sent.
  send(comparison) {
    const { most_bytes: most, traces } = this.settings;
    if (this.file.size > most) return this.refuse(`the file has ${size(this.file.size)}; accepted are at most ${size(most)}`, false);
    if (this.file.size === 0) return this.refuse("the file is empty", false);
    const request = (this.request = new XMLHttpRequest());
    const query = new URLSearchParams({ name: this.file.name, label: stem(this.file.name), ...(comparison ? { comparison } : {}) });
    request.open("POST", `${traces}?${query}`);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.addEventListener("progress", (event) => this.progress(event.loaded));
    request.addEventListener("load", () => this.answered(request));
    request.addEventListener("error", () => this.refuse("the connection was lost before the file was whole", true));
    request.addEventListener("abort", () => this.become("cancelled"));
    this.begun = performance.now();
    this.become("sending");
    request.send(this.file);
  }

  progress(loaded) {
    this.sent = Math.min(loaded, this.file.size);
    this.speed = this.sent / Math.max((performance.now() - this.begun) / 1e3, 0.05);
    this.draw();
  }

  answered(request) {
    const told = parsed(request.responseText);
    if (request.status >= 400 || !told?.id) {
      return this.refuse(told?.error ?? `the server answered ${request.status}`, request.status >= 500);
    }
    this.sent = this.file.size;
    this.comparison = told.comparison_id;
    this.told(told);
    if (!this.ended) this.timer = setTimeout(() => this.follow(), FIRST_POLL_MS);
  }

  async follow() {
    try {
      const answer = await fetch(`${this.settings.traces}/${this.id}`, { cache: "no-store" });
      if (answer.ok) this.told(await answer.json());
    } catch {
      // The server is being restarted, or the network is away: ask again.
    }
    this.draw();
    if (!this.ended) this.timer = setTimeout(() => this.follow(), POLL_MS);
  }

  told(trace) {
    this.id = trace.id;
    this.returned ||= Boolean(trace.raw_returned);
    this.reason = trace.failure?.message ?? "the file could not be read";
    this.become(trace.status);
  }

  refuse(reason, worthAnotherTry) {
    Object.assign(this, { reason, worthAnotherTry });
    this.become("refused");
  }

  cancel() {
    if (this.state === "waiting") this.become("cancelled");
    else this.request?.abort();
  }

  again() {
    Object.assign(this, { sent: 0, speed: 0 });
    this.become("waiting");
  }

  become(state) {
    if (state === this.state) return;
    Object.assign(this, { state, since: performance.now() });
    this.draw();
    this.changed(this);
  }

  draw() {
    this.bar.hidden = !this.onItsWay;
    this.bar.value = this.file.size ? this.sent / this.file.size : 1;
    this.said.textContent = stateText(this);
    this.row.dataset.state = this.state;
    this.button.hidden = !(this.onItsWay || (this.state === "refused" && this.worthAnotherTry));
    this.button.textContent = this.state === "refused" ? "Try again" : "Cancel";
    this.button.setAttribute("aria-label", `${this.button.textContent}: ${this.name}`);
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
