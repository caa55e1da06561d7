import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import { DataFolderError } from "./data-folder-error.ts";

const run = promisify(execFile);

/** Who the server runs as when we are root, since PostgreSQL refuses to be root. */
export type Account = {
  readonly uid: number;
  readonly gid: number;
  /** What lets the account pass folders that only root may enter, such as a checkout in /root. */
  readonly capability?: string;
};

/**
 * The account for a root process; none is needed, and undefined answered, for anybody else. A
 * database that is there already stays with its owner.
 */
export async function findAccount(data: string, programs: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const owner = await stat(data).catch(() => undefined);
  const account =
    owner !== undefined && owner.uid !== 0
      ? { uid: owner.uid, gid: owner.gid }
      : await anyAccount();
  const folder = path.dirname(data);
  if ((await mayEnter(account, folder)) && (await mayEnter(account, programs))) return account;
  const capability = await findCapability();
  if (capability !== undefined) return { ...account, capability };
  throw new DataFolderError(
    `PostgreSQL does not run as root, and no other user may enter ${folder} and ${programs}. Set SCRIP_DATA_DIR to a folder such as /var/lib/scrip and move the checkout out of the home of root, start as another user, or set DATABASE_URL.`,
  );
}

/** `nobody` owns nothing on most systems, and is there where PostgreSQL was never installed. */
const ACCOUNTS = ["postgres", "nobody"];

async function anyAccount(): Promise<Account> {
  for (const name of ACCOUNTS) {
    const [uid, gid] = await Promise.all([idOf("-u", name), idOf("-g", name)]);
    if (uid !== undefined && gid !== undefined) return { uid, gid };
  }
  throw new Error(
    "PostgreSQL does not run as root, and there is no user postgres or nobody to run it as.",
  );
}

const idOf = (flag: string, name: string): Promise<number | undefined> =>
  run("id", [flag, name]).then(
    ({ stdout }) => Number(stdout),
    () => undefined,
  );

async function mayEnter({ uid, gid }: Account, folder: string): Promise<boolean> {
  const { mode, ...owner } = await stat(folder);
  const shift = owner.uid === uid ? 6 : owner.gid === gid ? 3 : 0;
  if (((mode >> shift) & 1) === 0) return false;
  const parent = path.dirname(folder);
  return parent === folder || mayEnter({ uid, gid }, parent);
}

/** Reading is enough to pass; containers often grant only the wider one. */
const CAPABILITIES = ["dac_read_search", "dac_override"];

async function findCapability(): Promise<string | undefined> {
  for (const name of CAPABILITIES) {
    const probe = [`--inh-caps=+${name}`, `--ambient-caps=+${name}`, "--", "true"];
    const granted = await run("setpriv", probe).then(
      () => true,
      () => false,
    );
    if (granted) return name;
  }
  return undefined;
}
