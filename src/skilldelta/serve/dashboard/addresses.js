// Which page an address names, and the address of a page: #/PAGE/NAME?agent=A&suite=S.

// #/skill/NAME?agent=A as { page: "skill", name: "NAME", query }.
export const route = () => {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const [page, ...rest] = path.split("/");
  return { page, name: decoded(rest.join("/")), query: new URLSearchParams(query) };
};

const decoded = (text) => { try { return decodeURIComponent(text); } catch { return text; } };

// The address of a page that keeps the chosen panel.
export const link = (page, name = "", query = {}) => {
  const now = route().query;
  const kept = Object.fromEntries(["agent", "suite"].filter((key) => now.has(key)).map((key) => [key, now.get(key)]));
  const asked = new URLSearchParams(Object.entries({ ...kept, ...query }).filter(([, value]) => value !== "" && value != null));
  const path = name === "" ? page : `${page}/${encodeURIComponent(name)}`;
  return `#/${path}${asked.size ? `?${asked}` : ""}`;
};
