import { spawn } from "node:child_process";
import { once } from "node:events";

import { expect, test } from "vitest";

/** Runs in a child process, since signals address whole processes. */
function run(program: string) {
  const source = new URL("run-until-stopped.ts", import.meta.url);
  const code = `import { runUntilStopped } from ${JSON.stringify(source)};
    const never = () => new Promise(() => setInterval(() => {}, 60_000));
    const closing = (close) => ({ [Symbol.asyncDispose]: close });
    ${program}`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", code], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  }
  return {
    says: (text: string) => expect.poll(() => output, { timeout: 60_000 }).toContain(text),
    end: async (...signals: readonly NodeJS.Signals[]) => {
      const exited = once(child, "exit");
      for (const signal of signals) child.kill(signal);
      await exited;
      return { code: child.exitCode, output };
    },
    child,
    output: () => output,
  };
}

test.each(["SIGINT", "SIGTERM"] as const)("closes what runs on %s", async (signal) => {
  const { says, end } = run(`await runUntilStopped(
    async () => {
      const timer = setInterval(() => {}, 60_000);
      return closing(async () => (clearInterval(timer), console.log("closed")));
    },
    { onReady: () => console.log("ready") },
  );`);
  await says("ready");
  expect(await end(signal)).toEqual({ code: 0, output: "ready\nclosed\n" });
});

test("aborts a hanging start on a signal, even if the signal is sent twice", async () => {
  const { says, end } = run(`await runUntilStopped(
    () => (console.log("starting"), never()),
    { onReady: () => console.log("ready"), onStop: () => console.log("stopping") },
  );`);
  await says("starting");
  expect(await end("SIGINT", "SIGTERM")).toEqual({ code: 0, output: "starting\nstopping\n" });
});

test("closes resources that the start created after the signal, without calling onReady", async () => {
  const { says, end } = run(`await runUntilStopped(
    async (stop) => {
      console.log("starting");
      await new Promise((resolve) => {
        const timer = setInterval(() => stop.aborted && resolve(clearInterval(timer)), 10);
      });
      return closing(async () => console.log("closed"));
    },
    { onReady: () => console.log("ready") },
  );`);
  await says("starting");
  expect(await end("SIGTERM")).toEqual({ code: 0, output: "starting\nclosed\n" });
});

test("ends a process that does not close on a second signal", async () => {
  const { says, end, child } = run(`await runUntilStopped(
    async () => closing(() => (setTimeout(() => console.log("closing"), 1_500), never())),
    { onReady: () => (setInterval(() => {}, 60_000), console.log("ready")) },
  );`);
  await says("ready");
  child.kill("SIGTERM");
  await says("closing");
  expect((await end("SIGTERM")).code).toBe(1);
});

test("prints the explanation of a failed start and exits with code 1", async () => {
  const { child, output } = run(`console.error = console.log;
    await runUntilStopped(
      () => Promise.reject(new Error("internal")),
      { explain: ({ message }) => message + ": what to do" },
    );`);
  await once(child, "close");
  expect([child.exitCode, output()]).toEqual([1, "internal: what to do\n"]);
});

test("explains a port that is in use in one line", async () => {
  const { child, output } = run(`import { createServer } from "node:net";
    import { once } from "node:events";
    const first = createServer().listen(0, "127.0.0.1");
    await once(first, "listening");
    await runUntilStopped(async () => {
      await once(createServer().listen(first.address().port, "127.0.0.1"), "listening");
    });
    first.close();`);
  await once(child, "close");
  expect([child.exitCode, output()]).toEqual([
    1,
    expect.stringMatching(/^Port \d+ on 127\.0\.0\.1 is in use by another program\. [^\n]*\n$/),
  ]);
});
