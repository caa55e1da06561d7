import { execFile } from "node:child_process";
import { chown, readdir, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import { Client } from "pg";

const run = promisify(execFile);

/** As pg_basebackup does, which is not among the programs of the embedded PostgreSQL. */
export async function baseBackup(url: string, dataDir: string, target: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("select pg_backup_start('base', true)");
    await copyLive(dataDir, target);
    const { rows } = await client.query<{ labelfile: string }>(
      "select labelfile from pg_backup_stop()",
    );
    const data = path.join(target, "postgres");
    await writeAsOwner(path.join(data, "backup_label"), rows[0]?.labelfile ?? "");
    for (const file of ["postmaster.pid", "postmaster.opts"]) {
      await rm(path.join(data, file), { force: true });
    }
    await rm(path.join(target, "scrip.lock"), { force: true });
    for (const file of await readdir(path.join(data, "pg_wal"))) {
      if (/^[0-9A-F]{24}/.test(file)) await rm(path.join(data, "pg_wal", file));
    }
  } finally {
    await client.end();
  }
}

/** The log mends files that change meanwhile, or disappear. */
async function copyLive(from: string, to: string): Promise<void> {
  await run("cp", ["-a", from, to]).catch(({ stderr }: { readonly stderr: string }) => {
    const errors = stderr.trim().split("\n");
    if (!errors.every((line) => line.endsWith("No such file or directory")))
      throw new Error(stderr);
  });
}

/** The account that runs the server reads and removes it. */
export async function writeAsOwner(file: string, text: string): Promise<void> {
  const { uid, gid } = await stat(path.dirname(file));
  await writeFile(file, text, { mode: 0o600 });
  await chown(file, uid, gid);
}
