import { spawn } from "node:child_process";

/**
 * Stops the server when this process ends without having done so, however it ends. A tiny shell
 * reads from a pipe that only we hold open: its end is our end, also after `kill -9`.
 */
export function watchServer(pidFile: string, pid: number): Disposable {
  if (process.platform === "win32") return { [Symbol.dispose]() {} };
  // The file is asked again, because the number may have gone to another process since.
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
