// Sizes, speeds and states in words.

const UNITS = [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]];
const PATIENCE_MS = 15_000;

function size(bytes) {
  const [unit, factor] = UNITS.find(([, factor]) => bytes >= factor) ?? ["bytes", 1];
  const value = bytes / factor;
  return `${value.toFixed(factor > 1 && value < 10 ? 1 : 0)} ${unit}`;
}

function sendingText(upload) {
  const share = upload.file.size ? Math.floor((upload.sent / upload.file.size) * 100) : 100;
  const speed = upload.speed ? ` · ${size(upload.speed)}/s` : "";
  return `${size(upload.sent)} of ${size(upload.file.size)} · ${share} %${speed}`;
}

// What a file is at, beside its name; the reason of a refusal is the server's own sentence.
function stateText(upload) {
  switch (upload.state) {
    case "waiting": return `${size(upload.file.size)}, next`;
    case "sending": return upload.sent < upload.file.size ? sendingText(upload) : `${size(upload.file.size)} sent, being stored`;
    case "queued": return performance.now() - upload.since > PATIENCE_MS ? "waiting for a worker; none has taken it yet" : "waiting for a worker";
    case "running": return "being read";
    case "done": return upload.returned ? "read before; its file is kept again" : "read";
    case "cancelled": return "cancelled, nothing was kept";
    default: return upload.reason;
  }
}

// Characters that hide, move or turn what stands around them, as their escapes: names are anybody's.
function printable(text) {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g,
    (hidden) => `\\u${hidden.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

// `17_qwen_decode` of `17_qwen_decode.json.gz`: what people call it.
function stem(name) {
  return [...(name.replace(/(\.(pt|trace|json|gz|sqlite3?|db))+$/i, "") || name)].slice(0, 120).join("");
}
