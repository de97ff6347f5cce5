// Elements from plain values: text is always text, since names come from files of anyone.

function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== ""));
  return made;
}

function table(heads, lines) {
  const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
  const body = lines.map((cells) => element("tr", {}, ...cells.map((cell) => element("td", {}, cell))));
  return element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
}
