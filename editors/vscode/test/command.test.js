const assert = require("node:assert");
const test = require("node:test");
const { expanded, serverCommand } = require("../dist/command.js");

const NOTHING = { path: "", interpreter: "", active: "", arguments: [], platform: "linux" };

test("a path that was set is run as it is", () => {
    const chosen = { ...NOTHING, path: "/bin/inplace-lint", interpreter: "/bin/python", arguments: ["--isolated"] };
    assert.deepStrictEqual(serverCommand(chosen), { command: "/bin/inplace-lint", args: ["server", "--isolated"] });
});

test("an interpreter that was set goes before the active one, and that before the system's", () => {
    const args = ["-m", "inplace_lint", "server"];
    assert.deepStrictEqual(serverCommand({ ...NOTHING, interpreter: "/a", active: "/b" }), { command: "/a", args });
    assert.deepStrictEqual(serverCommand({ ...NOTHING, active: "/b" }), { command: "/b", args });
    assert.deepStrictEqual(serverCommand(NOTHING), { command: "python3", args });
    assert.deepStrictEqual(serverCommand({ ...NOTHING, platform: "win32" }), { command: "python", args });
});

test("the home folder and the workspace folder are replaced", () => {
    assert.strictEqual(expanded("~/v/bin/python", "/home/u", "/w"), "/home/u/v/bin/python");
    assert.strictEqual(expanded("${workspaceFolder}/.venv/bin/python", "/home/u", "/w"), "/w/.venv/bin/python");
    assert.strictEqual(expanded("/a~b", "/home/u", "/w"), "/a~b");
});
