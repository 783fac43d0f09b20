/** How the server is started, from what the user has set. */

export interface Chosen {
    /** The program `inplace-lint`; empty where it is to be run as a module. */
    path: string;
    /** The interpreter of the settings, or empty. */
    interpreter: string;
    /** The interpreter of the Python extension, or empty. */
    active: string;
    arguments: readonly string[];
    platform: string;
}

export interface Command {
    command: string;
    args: string[];
}

/** Return the program and its arguments: a path that was set goes before an interpreter, and that before the active one. */
export function serverCommand(chosen: Chosen): Command {
    if (chosen.path !== "") {
        return { command: chosen.path, args: ["server", ...chosen.arguments] };
    }
    const fallback = chosen.platform === "win32" ? "python" : "python3";
    const python = chosen.interpreter || chosen.active || fallback;
    return { command: python, args: ["-m", "inplace_lint", "server", ...chosen.arguments] };
}

/** Return a path with `~` and `${workspaceFolder}` replaced. */
export function expanded(path: string, home: string, folder: string): string {
    const whole = path.replaceAll("${workspaceFolder}", folder).replaceAll("${userHome}", home);
    return whole === "~" || whole.startsWith("~/") || whole.startsWith("~\\") ? home + whole.slice(1) : whole;
}
