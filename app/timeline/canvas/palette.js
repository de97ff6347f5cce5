// Role colours and hatches. The same values as the stylesheet's: a canvas cannot read light-dark().

const ROLES = {
  light: {
    gemm: ["#1A3490", "#FFFFFF"], attention: ["#9F4CAC", "#FFFFFF"], softmax: ["#E2A26B", "#14171C", "#B0703A"],
    norm: ["#A98F1E", "#14171C"], pointwise: ["#029783", "#14171C"], reduction: ["#526C13", "#FFFFFF"],
    communication: ["#6B2A28", "#FFFFFF"], helper: ["#8E959F", "#14171C"],
    copy: ["#5B626C"], fill: ["#7C848F"], other: ["#7C848F"],
  },
  dark: {
    gemm: ["#5C8BEA", "#14171C"], attention: ["#A24C93", "#FFFFFF"], softmax: ["#E09A66", "#14171C"],
    norm: ["#F4D125", "#14171C"], pointwise: ["#1CCDC6", "#14171C"], reduction: ["#BBF1B9", "#14171C"],
    communication: ["#D85A4F", "#14171C"], helper: ["#7A838F", "#14171C"],
    copy: ["#A7AFBA"], fill: ["#7F8894"], other: ["#7F8894"],
  },
};

const INK = {
  light: { ground: "#FFFFFF", ink: "#171A1F", muted: "#626A75", faint: "#7C848F", border: "#E2E5E9", unlit: "#5B626C", cursor: "#4451C4" },
  dark: { ground: "#0F1216", ink: "#E6E9ED", muted: "#98A1AD", faint: "#7F8894", border: "#2A3038", unlit: "#98A1AD", cursor: "#5E6BD8" },
};

const HATCHED = ["copy", "fill", "other"], HATCH = 6;

// The theme is told by the page's ground, which follows the switch before any rerun.
function isDark(element) {
  const ground = getComputedStyle(element).getPropertyValue("--st-background-color").trim();
  const hex = /^#([0-9a-f]{6})/i.exec(ground);
  if (hex) return parseInt(hex[1].slice(0, 2), 16) < 128;
  const rgb = /rgba?\((\d+)/.exec(ground);
  return rgb ? Number(rgb[1]) < 128 : false;
}

function hatch(context, colour, falling) {
  if (context.hatch) return context.hatch(colour, falling);
  const tile = new OffscreenCanvas(HATCH, HATCH);
  const pen = tile.getContext("2d");
  pen.strokeStyle = colour;
  pen.lineWidth = 1.2;
  pen.beginPath();
  for (const [x, y, to, down] of hatchLines(falling)) {
    pen.moveTo(x, y);
    pen.lineTo(to, down);
  }
  pen.stroke();
  return context.createPattern(tile, "repeat");
}

// Of one tile, with the ends of its neighbours' lines.
function hatchLines(falling) {
  return [-HATCH, 0, HATCH].map((shift) => [shift - 1, falling ? -1 : HATCH + 1, shift + HATCH + 1, falling ? HATCH + 1 : -1]);
}

// Per role: fill, text, edge, and the plain colour of what is too thin for a hatch; made anew with the theme, since patterns belong to a context.
function makePalette(context, dark) {
  const theme = dark ? "dark" : "light";
  const roles = {};
  for (const [role, [fill, text, edge]] of Object.entries(ROLES[theme])) {
    roles[role] = HATCHED.includes(role)
      ? { fill: hatch(context, fill, role === "fill"), text: INK[theme].ink, edge: fill, dashed: role === "other", thin: fill }
      : { fill, text, edge, thin: fill };
  }
  const { faint, border } = INK[theme];
  const host = { fill: faint, text: "#14171C", thin: faint, flat: true }, unlit = { fill: border, text: INK[theme].unlit, thin: border, flat: true };
  return { ...INK[theme], roles, host, unlit };
}
