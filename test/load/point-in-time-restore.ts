import { appendFile, chmod, chown, mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { type EmbeddedPostgres, startEmbeddedPostgres } from "@scrip/embedded-postgres";

import { type Api, serverApi } from "../stack/api.ts";
import { baseBackup, writeAsOwner } from "../stack/base-backup.ts";
import { startComposition } from "../stack/compositions.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { ok } from "../stack/rule-builders.ts";
import { query } from "./postgres.ts";
import { startStandalone } from "./standalone.ts";

const VOUCHERS = 20;
const WAIT_MS = 120_000;
const POLL_MS = 100;

type DrillOptions = {
  /** Redemptions per second. */
  readonly rate: number;
  /** Redemptions before the backup, between it and the restored moment, and after that. */
  readonly count: number;
  readonly report: (line: string) => void;
};

type Attempt = {
  /** By the clock of the machine, which is that of the database too. */
  readonly sentAt: number;
  readonly acknowledgedAt: number;
  readonly id: string;
};

/**
 * Archives the log of a PostgreSQL while redemptions run, restores a moment between them to another server, and
 * compares what was acknowledged with what is there; returns the differences and violated invariants.
 */
export async function drillRestore(options: DrillOptions): Promise<readonly string[]> {
  const { report } = options;
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-restore-"));
  try {
    // The account that runs the server enters it.
    await chmod(folder, 0o755);
    const places = {
      source: path.join(folder, "source"),
      backup: path.join(folder, "backup"),
      archive: path.join(folder, "archive"),
    };
    const { backupAt, moment, attempts } = await loadWithBackup(places, options);
    await using restored = await restore({ ...places, moment, report });
    const differences = await compare(restored.url, { moment, attempts, report });
    const violations = await invariantViolations({ databaseUrl: restored.url });
    report(`${await setGroupsBack(restored.url, backupAt)} groups set back`);
    const afterwards = await serveAgain(restored.url, path.join(folder, "scrip"));
    return [...differences, ...violations, ...afterwards];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Places = { readonly source: string; readonly backup: string; readonly archive: string };

/** Returns all acknowledged redemptions, the time of the backup, and a moment between later redemptions. */
async function loadWithBackup(
  { source, backup, archive }: Places,
  { rate, count, report }: DrillOptions,
): Promise<{
  readonly backupAt: number;
  readonly moment: number;
  readonly attempts: readonly Attempt[];
}> {
  await using server = await startArchiving(source, archive);
  await using stack = await startComposition("standalone", {
    database: { url: server.url, [Symbol.asyncDispose]: async () => {} },
  });
  const api = await serverApi(stack);
  const load = startLoad(api, await createVouchers(api), rate);
  await load.acknowledged(count);
  const backupAt = Date.now();
  await baseBackup(server.url, source, backup);
  await load.acknowledged(count);
  const moment = Date.now();
  await load.acknowledged(count);
  const attempts = await load.stop();
  await archiveAll(server.url);
  report(`${attempts.length} redemptions acknowledged`);
  return { backupAt, moment, attempts };
}

function startLoad(api: Api, codes: readonly string[], rate: number) {
  const attempts: Attempt[] = [];
  const requests: Promise<void>[] = [];
  let isStopped = false;
  const sending = (async () => {
    for (let number = 0; !isStopped; number += 1) {
      requests.push(redeem(api, codes[number % codes.length] ?? "", attempts));
      await sleep(1_000 / rate);
    }
    await Promise.all(requests);
  })();
  return {
    /** Waits until `count` redemptions that are sent from now on are acknowledged. */
    async acknowledged(count: number): Promise<void> {
      const since = Date.now();
      const deadline = since + WAIT_MS;
      while (attempts.filter(({ sentAt }) => sentAt > since).length < count) {
        if (Date.now() > deadline) throw new Error("redemptions fail");
        await sleep(POLL_MS);
      }
    },
    async stop(): Promise<readonly Attempt[]> {
      isStopped = true;
      await sending;
      return attempts;
    },
  };
}

async function startArchiving(dataDir: string, archive: string): Promise<EmbeddedPostgres> {
  await mkdir(archive);
  {
    // Archiving takes effect only at a start.
    await using first = await startEmbeddedPostgres({ dataDir });
    await query(first.url, "alter system set archive_mode = on");
    await query(first.url, `alter system set archive_command = 'cp "%p" "${archive}/%f"'`);
  }
  const { uid, gid } = await stat(path.join(dataDir, "postgres"));
  await chown(archive, uid, gid);
  return startEmbeddedPostgres({ dataDir });
}

async function createVouchers(api: Api): Promise<readonly string[]> {
  const codes = Array.from({ length: VOUCHERS }, (_, at) => `RESTORE-${at}`);
  for (const [at, code] of codes.entries()) {
    const value =
      at % 2 === 0
        ? { type: "GIFT_VOUCHER", gift: { amount: 10_000_000 } }
        : { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 100 } };
    await ok(api.post("/v1/vouchers", { code, redemption: { quantity: null }, ...value }));
  }
  return codes;
}

async function redeem(api: Api, code: string, attempts: Attempt[]): Promise<void> {
  const sentAt = Date.now();
  const body = { order: { amount: 1_000 }, customer: { source_id: `customer of ${code}` } };
  const { status, body: redemption } = await api.post(`/v1/vouchers/${code}/redemption`, body);
  // A busy machine has no room for all of them.
  if (status !== 200) return;
  attempts.push({ sentAt, acknowledgedAt: Date.now(), id: redemption["id"] as string });
}

async function archiveAll(url: string): Promise<void> {
  const [row] = await query(url, "select pg_walfile_name(pg_switch_wal()) as name");
  await until(
    url,
    `select last_archived_wal >= '${String(row?.["name"])}' as done from pg_stat_archiver`,
  );
}

async function restore({
  backup,
  archive,
  moment,
  report,
}: Places & Pick<DrillOptions, "report"> & { readonly moment: number }): Promise<EmbeddedPostgres> {
  const data = path.join(backup, "postgres");
  // Names of time zones are not known yet when the setting is read.
  const at = new Date(moment).toISOString().replace("Z", "+00");
  await appendFile(
    path.join(data, "postgresql.auto.conf"),
    [
      "archive_mode = off",
      `restore_command = 'cp "${archive}/%f" "%p"'`,
      `recovery_target_time = '${at}'`,
      "recovery_target_action = promote",
      "",
    ].join("\n"),
  );
  await writeAsOwner(path.join(data, "recovery.signal"), "");
  const startedAt = performance.now();
  const server = await startEmbeddedPostgres({ dataDir: backup });
  await until(server.url, "select not pg_is_in_recovery() as done");
  report(`restored ${at} in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  return server;
}

async function compare(
  url: string,
  {
    moment,
    attempts,
    report,
  }: Pick<DrillOptions, "report"> & {
    readonly moment: number;
    readonly attempts: readonly Attempt[];
  },
): Promise<readonly string[]> {
  const rows = await query(url, "select id from voucher.redemption");
  const stored = new Set(rows.map(({ id }) => String(id)));
  const before = attempts.filter(({ acknowledgedAt }) => acknowledgedAt < moment);
  const after = attempts.filter(({ sentAt }) => sentAt > moment);
  report(
    `${before.length} acknowledged before that moment, ${after.length} sent after it, ${stored.size} stored`,
  );
  if (before.length === 0 || after.length === 0) return ["the moment is not within the load"];
  return [
    ...before.filter(({ id }) => !stored.has(id)).map(({ id }) => `lost: ${id}`),
    ...after.filter(({ id }) => stored.has(id)).map(({ id }) => `from after the moment: ${id}`),
  ];
}

/** Consumers handle events again that they have handled: the guide for operators recommends it, and it must change nothing. */
async function setGroupsBack(url: string, since: number): Promise<number> {
  const [row] = await query(
    url,
    `with moved as (
       update events.bus_offset as o
          set log_offset = b.first_offset
         from (select topic, min(first_offset) as first_offset from events.bus_batch
                where published_at >= '${new Date(since).toISOString()}' group by topic) as b
        where b.topic = o.topic and b.first_offset < o.log_offset and o.consumer_group like 'loyalty%'
       returning o.consumer_group)
     select count(distinct consumer_group)::int as groups from moved`,
  );
  return Number(row?.["groups"]);
}

/** Scrip starts on the restored server, as after a damage, and handles the events that wait there. */
async function serveAgain(databaseUrl: string, dataDir: string): Promise<readonly string[]> {
  await using _ = await startStandalone({ databaseUrl, dataDir });
  await until(
    databaseUrl,
    `select (select count(*) from voucher.redemption where status = 'SUCCEEDED')
            = (select sum(succeeded) from loyalty.customer_redemptions) as done`,
  );
  return invariantViolations({ databaseUrl });
}

/** Waits until the statement returns `done`. */
async function until(url: string, statement: string): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  while (performance.now() < deadline) {
    const [row] = await query(url, statement).catch(() => []);
    if (row?.["done"] === true) return;
    await sleep(POLL_MS);
  }
  throw new Error(`still waiting after ${WAIT_MS / 1_000} s: ${statement}`);
}
