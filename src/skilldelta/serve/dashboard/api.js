// The server's API. Every error is a problem with words for people; a missing or refused token asks for one.

const TOKEN = "skilldelta-token";

export class Problem extends Error {
  constructor(status, title, detail) {
    super(detail || title);
    this.status = status;
    this.title = title;
  }
}

export const token = {
  get: () => { try { return sessionStorage.getItem(TOKEN); } catch { return null; } },
  set: (value) => { try { sessionStorage.setItem(TOKEN, value); } catch { /* asked again on the next page */ } },
};

const headers = (more = {}) => (token.get() ? { Authorization: `Bearer ${token.get()}`, ...more } : more);

const address = (path, query = {}) => {
  // A list is the same name several times.
  const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
  const asked = new URLSearchParams(pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined));
  return asked.size ? `${path}?${asked}` : path;
};

const call = async (path, options) => {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "No answer", "The server does not answer. Is skilldelta serve still running?");
  }
  if (response.ok) return response;
  let told = {};
  try { told = await response.json(); } catch { /* not every error has words */ }
  throw new Problem(response.status, told.title ?? response.statusText, typeof told.detail === "string" ? told.detail : "");
};

const json = async (response) => (response.status === 204 ? null : response.json());

export const get = async (path, query, { signal } = {}) => json(await call(address(path, query), { signal, headers: headers() }));

export const post = async (path, body, { signal } = {}) => json(await call(path, {
  method: "POST", signal, headers: headers({ "Content-Type": "application/json" }), body: JSON.stringify(body),
}));

export const remove = async (path) => json(await call(path, { method: "DELETE", headers: headers() }));

export const send = async (path, query, body, type) => json(await call(address(path, query), {
  method: "POST", headers: headers({ "Content-Type": type }), body,
}));

// Save what the server has under a name of this side.
export const download = async (path, name) => {
  const place = URL.createObjectURL(await (await call(path, { headers: headers() })).blob());
  const link = document.createElement("a");
  link.href = place;
  link.download = name;
  link.click();
  URL.revokeObjectURL(place);
};

// Server-sent events over fetch, which unlike EventSource can carry a token.
export async function* events(path, { signal } = {}) {
  const response = await call(path, { signal, headers: headers({ Accept: "text/event-stream" }) });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value.replaceAll("\r\n", "\n")).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const told = eventOf(block);
      if (told) yield told;
    }
  }
}

const eventOf = (block) => {
  let name = "message";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    if (line.startsWith("data:")) data.push(line.slice(5).trimStart());
  }
  return data.length ? { name, data: JSON.parse(data.join("\n")) } : null;
};
