/** Starts `inplace-lint server` for the Python files of the workspace, and offers its commands. */

import { homedir } from "node:os";
import * as vscode from "vscode";
import {
    CodeAction,
    CodeActionRequest,
    CodeActionResolveRequest,
    ExecuteCommandRequest,
    LanguageClient,
    RevealOutputChannelOn,
} from "vscode-languageclient/node";
import { expanded, serverCommand } from "./command";

const SECTION = "inplaceLint";
const FIX_ALL = "source.fixAll.inplace-lint";
const SOURCE = "inplace-lint";

let client: LanguageClient | undefined;
let output: vscode.LogOutputChannel;
let turn: Promise<void> = Promise.resolve();

export async function activate(context: vscode.ExtensionContext): Promise<void> {
    output = vscode.window.createOutputChannel("inplace-lint", { log: true });
    const command = (name: string, work: () => unknown) => vscode.commands.registerCommand(`${SECTION}.${name}`, work);
    context.subscriptions.push(
        output,
        command("restart", restart),
        command("showOutput", () => output.show()),
        command("explain", explain),
        command("fixAll", fixAll),
        vscode.workspace.onDidChangeConfiguration((event) => {
            const startsAnew = ["enable", "path", "interpreter", "arguments"].some((key) =>
                event.affectsConfiguration(`${SECTION}.${key}`),
            );
            return startsAnew ? restart() : undefined;
        }),
        vscode.workspace.onDidGrantWorkspaceTrust(restart),
    );
    const python = await pythonApi();
    python?.environments?.onDidChangeActiveEnvironmentPath?.(restart, undefined, context.subscriptions);
    await restart();
}

export async function deactivate(): Promise<void> {
    await turn;
    await stop();
}

/** Restart the server; restarts that were asked for at once follow one another. */
function restart(): Promise<void> {
    turn = turn.then(async () => {
        await stop();
        if (vscode.workspace.getConfiguration(SECTION).get<boolean>("enable", true)) {
            await start();
        }
    });
    return turn;
}

async function stop(): Promise<void> {
    const old = client;
    client = undefined;
    try {
        await old?.dispose();
    } catch (error) {
        output.warn(`The server did not end by itself: ${String(error)}`);
    }
}

async function start(): Promise<void> {
    const settings = vscode.workspace.getConfiguration(SECTION);
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const path = (key: string) => expanded(settings.get<string>(key, "").trim(), homedir(), folder?.fsPath ?? "");
    const run = serverCommand({
        path: path("path"),
        interpreter: path("interpreter"),
        active: await activeInterpreter(folder),
        arguments: settings.get<string[]>("arguments", []),
        platform: process.platform,
    });
    output.info(`Starting ${[run.command, ...run.args].join(" ")}`);
    const mine = new LanguageClient(
        SECTION,
        "inplace-lint",
        { command: run.command, args: run.args, options: { env: { ...process.env, PYTHONUTF8: "1" } } },
        {
            documentSelector: [
                { scheme: "file", language: "python" },
                { scheme: "untitled", language: "python" },
            ],
            outputChannel: output,
            traceOutputChannel: output,
            revealOutputChannelOn: RevealOutputChannelOn.Never,
        },
    );
    client = mine;
    try {
        await mine.start();
    } catch (error) {
        output.error(String(error));
        void offerHelp(run.command);
    }
}

async function offerHelp(command: string): Promise<void> {
    const show = "Show Output";
    const choose = "Choose Interpreter";
    const said = `inplace-lint did not start with ${command}. Is \`inplace-lint[server]\` installed there?`;
    const answer = await vscode.window.showErrorMessage(said, show, choose);
    if (answer === show) {
        output.show();
    } else if (answer === choose) {
        await vscode.commands.executeCommand("workbench.action.openSettings", `${SECTION}.interpreter`);
    }
}

/** Show the page of the rule of the finding at the cursor. */
async function explain(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined || client === undefined) {
        return;
    }
    const here = vscode.languages
        .getDiagnostics(editor.document.uri)
        .filter((one) => one.source === SOURCE && one.range.intersection(editor.selection) !== undefined);
    const codes = [...new Set(here.map((one) => String(typeof one.code === "object" ? one.code.value : one.code)))];
    const code = codes.length > 1 ? await vscode.window.showQuickPick(codes) : codes[0];
    if (code === undefined) {
        void vscode.window.showInformationMessage("There is no finding of inplace-lint at the cursor.");
        return;
    }
    await client.sendRequest(ExecuteCommandRequest.type, { command: "inplace-lint.explain", arguments: [code] });
}

/** Apply all safe fixes to the file in the active editor. */
async function fixAll(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    if (document === undefined || client === undefined) {
        return;
    }
    const offered = await client.sendRequest(CodeActionRequest.type, {
        textDocument: { uri: client.code2ProtocolConverter.asUri(document.uri) },
        range: { start: { line: 0, character: 0 }, end: { line: document.lineCount, character: 0 } },
        context: { diagnostics: [], only: [FIX_ALL] },
    });
    const action = (offered ?? []).find((one): one is CodeAction => CodeAction.is(one) && one.kind === FIX_ALL);
    const whole = action && (action.edit ? action : await client.sendRequest(CodeActionResolveRequest.type, action));
    if (whole?.edit) {
        await vscode.workspace.applyEdit(await client.protocol2CodeConverter.asWorkspaceEdit(whole.edit));
    } else {
        void vscode.window.showInformationMessage("There is nothing that inplace-lint can fix safely in this file.");
    }
}

/** What we use of the Python extension's interface; all of it may be missing. */
interface PythonApi {
    environments?: {
        getActiveEnvironmentPath?(resource?: vscode.Uri): { path: string };
        onDidChangeActiveEnvironmentPath?: vscode.Event<unknown>;
    };
}

async function pythonApi(): Promise<PythonApi | undefined> {
    const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
    if (extension === undefined) {
        return undefined;
    }
    try {
        return await extension.activate();
    } catch (error) {
        output.warn(`The Python extension did not start: ${String(error)}`);
        return undefined;
    }
}

async function activeInterpreter(folder: vscode.Uri | undefined): Promise<string> {
    const path = (await pythonApi())?.environments?.getActiveEnvironmentPath?.(folder)?.path;
    // `python` alone means that none was chosen.
    return path === undefined || path === "python" ? "" : path;
}
