// Streamlit calls this on every rerun and theme change: what is on its way stays on its element.

export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".import");
  root.batch ??= new Batch(root);
  root.batch.update(data);
}
