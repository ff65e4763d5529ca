// Where the data come from: the file itself, or the server. Both give the same records.

// The data that stand in the file: base64 of compressed JSON.
async function unpack(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

function fileSource(data) {
  const collection = (task, split) => data.collections[`${task}/${split}`];
  return {
    catalogue: data.catalogue,
    live: false,
    collection: async (task, split) => collection(task, split).record,
    episode: async (task, split, number) => collection(task, split).episodes[number],
    house: async (scan) => data.houses[scan],
  };
}

async function request(path, body) {
  const options = body && {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  let answer;
  try {
    answer = await fetch(path, options || {});
  } catch {
    throw new Error("The server does not answer. Is 'babywalk view' still running?");
  }
  const type = answer.headers.get("Content-Type") || "";
  const content = type.includes("json") ? await answer.json() : {};
  if (!answer.ok) throw new Error(content.error || `The server answered with an error (${answer.status}).`);
  return content;
}

function liveSource(catalogue) {
  const known = new Map();
  // Each record is asked for once; a failed request is forgotten, so that it can be repeated.
  const once = (path) => {
    if (!known.has(path)) {
      const answer = request(path);
      answer.catch(() => known.delete(path));
      known.set(path, answer);
    }
    return known.get(path);
  };
  const part = encodeURIComponent;
  return {
    catalogue,
    live: true,
    collection: (task, split) => once(`api/collections/${part(task)}/${part(split)}`),
    episode: async (task, split, number, id) => once(`api/episodes/${part(task)}/${part(split)}/${part(id)}`),
    house: (scan) => once(`api/houses/${part(scan)}`),
    segment: (text) => request("api/segment", { text }),
    follow: (order) => request("api/follow", order),
  };
}

export async function openSource() {
  const stored = document.getElementById("data");
  return stored ? fileSource(await unpack(stored.textContent)) : liveSource(await request("api/catalogue"));
}
