import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The user that runs the server when this process is root: PostgreSQL refuses to run as root. */
export type Account = {
  readonly uid: number;
  readonly gid: number;
  /** Linux capability that lets the account enter folders of root, such as a checkout in /root. */
  readonly capability?: string;
};

/**
 * The account that runs the server of a data folder: its owner, else `postgres` or `nobody`.
 * Returns undefined when this process is not root and needs no other account.
 */
export async function findAccount(data: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const owner = await stat(data).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return systemAccount();
}

/** `nobody` exists also where PostgreSQL was never installed, and owns nothing on most systems. */
const ACCOUNT_NAMES = ["postgres", "nobody"];

async function systemAccount(): Promise<Account> {
  for (const name of ACCOUNT_NAMES) {
    const [uid, gid] = await Promise.all([readId("-u", name), readId("-g", name)]);
    if (uid !== undefined && gid !== undefined) return { uid, gid };
  }
  throw new Error(
    "PostgreSQL cannot run as root, and neither the user postgres nor the user nobody exists. Start Scrip as another user, or set DATABASE_URL.",
  );
}

const readId = (flag: string, name: string): Promise<number | undefined> =>
  run("id", [flag, name]).then(
    ({ stdout }) => Number(stdout),
    () => undefined,
  );

/** Whether the permission bits let the account enter the folder (or run the program) and all its parents. */
export async function canEnter(account: Account, target: string): Promise<boolean> {
  const { mode, uid, gid } = await stat(target);
  const shift = uid === account.uid ? 6 : gid === account.gid ? 3 : 0;
  if (((mode >> shift) & 1) === 0) return false;
  const parent = path.dirname(target);
  return parent === target || canEnter(account, parent);
}

/** Tries the narrower capability first; many containers grant only `dac_override`. */
const CAPABILITIES = ["dac_read_search", "dac_override"];

/** A capability that lets the account read every folder; undefined if the system grants none. */
export async function findCapability(): Promise<string | undefined> {
  for (const name of CAPABILITIES) {
    const probe = [`--inh-caps=+${name}`, `--ambient-caps=+${name}`, "--", "true"];
    const isGranted = await run("setpriv", probe).then(
      () => true,
      () => false,
    );
    if (isGranted) return name;
  }
  return undefined;
}
