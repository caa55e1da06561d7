import { spawn } from "node:child_process";

/**
 * Stops the server when this process ends without stopping it, also after `kill -9`: a small shell
 * reads from a pipe that only this process holds open.
 */
export function watchServer(pidFile: string, pid: number): Disposable {
  if (process.platform === "win32") return { [Symbol.dispose]() {} };
  // Reads the file again, because another process may have the number by then.
  const script = 'read -r _; read -r now < "$1" && [ "$now" = "$2" ] && kill -INT "$2"';
  const shell = spawn("sh", ["-c", script, "sh", pidFile, String(pid)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  // Without a shell the next start finds the orphan and stops it.
  shell.on("error", () => {});
  shell.unref();
  return {
    [Symbol.dispose]() {
      shell.kill("SIGKILL");
    },
  };
}
