// What is shown, in the page's address: the same link brings the same view back.

const view = new Map(new URLSearchParams(location.hash.slice(1)));
const linkHolders = [];

/** The remembered number, unless there is none. */
function recalled(key, otherwise) {
  const number = Number(view.get(key));
  return view.has(key) && Number.isFinite(number) ? number : otherwise;
}

function remember(key, value) {
  if (value == null) view.delete(key);
  else view.set(key, String(value));
  const address = `#${new URLSearchParams([...view])}`;
  history.replaceState(null, "", address);
  for (const link of linkHolders) link.setAttribute("href", address);
}

/** A link to what is shown now. */
function viewLink() {
  const link = el("a", { href: location.hash || "#", class: "view-link" }, "Link to this view");
  linkHolders.push(link);
  return link;
}
