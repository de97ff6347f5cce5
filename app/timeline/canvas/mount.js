// Streamlit calls this on every rerun and theme change: the chart stays on its element, so that the canvas keeps the
// keyboard focus and its view.

export default function ({ parentElement, data, setStateValue }) {
  const root = parentElement.querySelector(".timeline");
  root.chart ??= new Chart(root);
  root.chart.update(data, setStateValue);
}
