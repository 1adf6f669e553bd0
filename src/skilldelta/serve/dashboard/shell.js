// Commands as they can be pasted into a shell.
export const quoted = (word) => (/^[\w.+:@/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

// The option that names the served bank, for a shell in its folder; a database is named by the environment.
export const bankOption = (frame) => (frame.is_file ? ` --bank ${quoted(frame.bank)}` : "");

// Where this page came from, which is where the server answers.
const server = () => new URL("v1/", location.href.split("#")[0]).href;
const posted = (path, body) => `curl -s ${server()}${path} -H 'Content-Type: application/json' \\\n  -d ${quoted(JSON.stringify(body))}`;

export const decideCommand = (frame) => posted("decide", { text: "How many cans are in 3 pallets?", skill: frame.skills[0] ?? "my-skill", ...(frame.panel ? { agent: frame.panel.agent } : {}) });

export const outcomeCommand = (decision) => posted("outcomes", { decision_id: decision, success: 1 });
