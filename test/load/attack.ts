import { execFileSync } from "node:child_process";
import { mkdir, rm, statfs, writeFile } from "node:fs/promises";
import { type ClientRequest, request } from "node:http";
import { connect, type Socket } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { Client } from "pg";

import { type Api, inParallel, type Json, newCode, serverApi } from "../stack/api.ts";
import { SERVICES, type ServiceName, type Stack, startComposition } from "../stack/compositions.ts";
import { invariantViolations } from "../stack/invariants.ts";
import { NO_CONNECTION } from "../stack/retry.ts";
import { describeMachine } from "./machine.ts";
import { openBenchDatabase } from "./postgres.ts";
import { table } from "./table.ts";

/**
 * Attacks an installation while it redeems, and compares the books after each attack (README.md#attacks). Every
 * redemption has an idempotency key and is repeated under it until its response is final.
 */
const { values: options } = parseArgs({
  options: {
    distributed: { type: "boolean", default: false },
    /** The attacks to run, separated by commas; empty runs all. */
    only: { type: "string", default: "" },
    /** Connections that send nothing, beside the traffic. */
    connections: { type: "string", default: "2000" },
    /** Fills the disk: mounts a file system of this many MiB for PostgreSQL, which needs root; 0 leaves it out. */
    disk: { type: "string", default: "0" },
  },
});

const FOLDER = path.join(import.meta.dirname, "../..", `.scrip-bench-${process.pid}`);
const CLIENTS = 12;
const CODES = 12;
const ORDERS = 36;
const CREDITS = 100_000_000;
const ATTACK_MS = 4_000;
const RETRY_MS = 50;

type Shop = { readonly api: Api; readonly codes: readonly string[] };

/** A redemption with status 200, and its request. */
type Final = {
  readonly code: string;
  readonly body: Json;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly startedAt: number;
  readonly endedAt: number;
};

type Traffic = {
  readonly finals: Final[];
  /** Finished requests by status or error key. */
  readonly outcomes: Map<string, number>;
  /** Waits until the requests in progress are final. */
  readonly stop: () => Promise<void>;
};

type Attack = {
  readonly name: string;
  /** Resolves when the attack is over; the traffic goes on for a while. */
  readonly run: (stack: Stack) => Promise<void>;
};

async function main(): Promise<void> {
  await mkdir(FOLDER);
  const disk = Number(options.disk);
  const dataDir = path.join(FOLDER, "disk");
  await mkdir(dataDir);
  if (disk > 0) mount(disk, dataDir);
  try {
    await using postgres = await openBenchDatabase(path.join(dataDir, "postgres"));
    const url = await postgres.create("attack");
    const composition = options.distributed ? "distributed" : "standalone";
    await using stack = await startComposition(composition, {
      database: { url, [Symbol.asyncDispose]: async () => {} },
      env: { SCRIP_MAX_CONCURRENT_WORK: "" },
    });
    const shop = await openShop(stack);
    const attacks = disk > 0 ? [fillDisk(dataDir)] : attacksOn(composition);
    const wanted = options.only.split(",").filter((name) => name !== "");
    process.stdout.write(`${composition} · ${describeMachine()}\n\n`);
    const rows: string[][] = [];
    for (const attack of attacks) {
      if (wanted.length > 0 && !wanted.includes(attack.name)) continue;
      rows.push(await measure(stack, shop, attack));
      process.stderr.write(`${rows.at(-1)?.join(" · ")}\n`);
    }
    process.stdout.write(table(COLUMNS, rows));
    if (rows.some((row) => row.at(-1) !== "exact")) process.exitCode = 1;
  } finally {
    if (disk > 0) execFileSync("umount", [dataDir]);
    await rm(FOLDER, { recursive: true, force: true });
  }
}

/** A file system of its own in memory, which can be filled. */
function mount(mebibytes: number, folder: string): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m,mode=0755`, "tmpfs", folder]);
}

const COLUMNS = [
  "attack",
  "redemptions",
  "lasted",
  "first success after",
  "last final response after",
  "responses",
  "books",
];

async function measure(stack: Stack, shop: Shop, attack: Attack): Promise<string[]> {
  const before = await usesOf(shop);
  const traffic = startTraffic(shop);
  await sleep(ATTACK_MS / 4);
  const attackedAt = performance.now();
  await attack.run(stack);
  const endedAt = performance.now();
  await sleep(ATTACK_MS);
  await traffic.stop();
  const { finals, outcomes } = traffic;
  // Redemptions that were in progress or came later.
  const later = finals.filter((final) => final.endedAt > attackedAt);
  const next = later.filter(({ startedAt }) => startedAt > attackedAt);
  const interrupted = later.filter(({ startedAt }) => startedAt <= attackedAt);
  const seconds = (times: readonly number[], pick: (...all: number[]) => number): string =>
    times.length === 0 ? "–" : `${((pick(...times) - attackedAt) / 1_000).toFixed(1)} s`;
  return [
    attack.name,
    String(finals.length),
    `${((endedAt - attackedAt) / 1_000).toFixed(1)} s`,
    seconds(
      next.map((final) => final.endedAt),
      Math.min,
    ),
    seconds(
      interrupted.map((final) => final.endedAt),
      Math.max,
    ),
    [...outcomes].map(([key, times]) => `${times} × ${key}`).join(", "),
    await compareBooks(stack, shop, { before, finals }),
  ];
}

/** Each final redemption counts once and is replayed, each balance is exact, and the invariants hold. */
async function compareBooks(
  stack: Stack,
  shop: Shop,
  { before, finals }: { readonly before: readonly number[]; readonly finals: readonly Final[] },
): Promise<string> {
  const after = await usesOf(shop);
  const wrong = shop.codes.flatMap((code, at) => {
    const made = finals.filter((final) => final.code === code).length;
    const counted = (after[at] ?? 0) - (before[at] ?? 0);
    return made === counted ? [] : `${code}: ${made} responses, ${counted} redemptions`;
  });
  const notReplayed = await withoutReplay(shop, finals);
  const violations = await invariantViolations(stack);
  return [...wrong, ...notReplayed, ...violations].join("; ") || "exact";
}

const REPLAYS_IN_PARALLEL = 8;

/** Responses with status 200 that a repetition of their request does not get. */
async function withoutReplay({ api }: Shop, finals: readonly Final[]): Promise<readonly string[]> {
  let others = 0;
  await inParallel(finals, REPLAYS_IN_PARALLEL, async ({ code, body, headers, text }) => {
    const replay = await api.post(`/v1/vouchers/${code}/redemption`, body, headers);
    const isSame =
      replay.headers.get("idempotent-replayed") === "true" && sameRedemption(replay.text, text);
    if (!isSame) others += 1;
  });
  return others === 0 ? [] : [`${others} of ${finals.length} responses are not replayed`];
}

/** The order is that of now: later redemptions of the same order may have changed it. */
const sameRedemption = (replayed: string, first: string): boolean =>
  JSON.parse(replayed).id === JSON.parse(first).id;

async function usesOf({ api, codes }: Shop): Promise<number[]> {
  return inParallel(codes, 4, async (code) => {
    const { status, text, body } = await api.get(`/v1/vouchers/${code}`);
    if (status !== 200) throw new Error(text);
    const uses: number = body["redemption"].redeemed_quantity;
    if (body["gift"].balance !== CREDITS - 3 * uses) throw new Error(`balance of ${code}: ${text}`);
    return uses;
  });
}

async function openShop(stack: Stack): Promise<Shop> {
  const api = await serverApi(stack);
  const codes = await inParallel(Array.from({ length: CODES }), 4, async () => {
    const code = newCode("ATTACK");
    const { status, text } = await api.post("/v1/vouchers", {
      code,
      type: "GIFT_VOUCHER",
      gift: { amount: CREDITS },
    });
    if (status !== 200) throw new Error(text);
    return code;
  });
  return { api, codes };
}

function startTraffic({ api, codes }: Shop): Traffic {
  const orders = Array.from({ length: ORDERS }, () => newCode("order"));
  const finals: Final[] = [];
  const outcomes = new Map<string, number>();
  let isRunning = true;
  let sent = 0;
  const redeem = async (n: number): Promise<void> => {
    const code = codes[n % CODES] ?? "";
    const body: Json = {
      gift: { credits: 3 },
      order: { source_id: orders[n % ORDERS], amount: 1_000 },
    };
    const headers = { "idempotency-key": newCode("key") };
    const startedAt = performance.now();
    for (;;) {
      const response = await api
        .post(`/v1/vouchers/${code}/redemption`, body, headers)
        .catch(() => NO_CONNECTION);
      const outcome = String(response.body["key"] ?? response.status);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      if (response.status === 200) {
        const { text } = response;
        finals.push({ code, body, headers, text, startedAt, endedAt: performance.now() });
        return;
      }
      await sleep(RETRY_MS);
    }
  };
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (isRunning) await redeem(sent++);
  });
  return {
    finals,
    outcomes,
    async stop() {
      isRunning = false;
      await Promise.all(clients);
    },
  };
}

function attacksOn(composition: "standalone" | "distributed"): readonly Attack[] {
  const killed: readonly (ServiceName | undefined)[] =
    composition === "standalone" ? [undefined, undefined] : [undefined, ...SERVICES];
  return [
    { name: "none", run: async () => {} },
    ...killed.map((service) => ({
      name: `kill -9 ${service ?? (composition === "standalone" ? "scrip" : "gateway")}`,
      run: (stack: Stack) => stack.crash(service),
    })),
    { name: "end of all sessions of PostgreSQL", run: endSessions },
    { name: `${options.connections} silent connections`, run: holdConnections },
    { name: "500 bodies of a byte per second", run: sendSlowly },
  ];
}

async function endSessions({ databaseUrl }: Stack): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
  await client.end();
}

async function holdConnections({ url }: Stack): Promise<void> {
  const { port } = new URL(url);
  const sockets: Socket[] = Array.from({ length: Number(options.connections) }, () =>
    connect({ port: Number(port), host: "127.0.0.1" }).on("error", () => {}),
  );
  await sleep(ATTACK_MS);
  for (const socket of sockets) socket.destroy();
}

async function sendSlowly({ url, keys }: Stack): Promise<void> {
  const api = await serverApi({ url, keys });
  const requests: ClientRequest[] = Array.from({ length: 500 }, () =>
    request(`${url}/v1/validations`, {
      method: "POST",
      agent: false,
      headers: {
        ...api.headers,
        "content-type": "application/json",
        "content-length": 1_000,
        expect: "",
      },
    }).on("error", () => {}),
  );
  for (let second = 0; second < ATTACK_MS / 1_000; second += 1) {
    for (const one of requests) one.write(" ");
    await sleep(1_000);
  }
  for (const one of requests) one.destroy();
}

/** Fills the file system of PostgreSQL, waits, and frees it again. */
const fillDisk = (folder: string): Attack => ({
  name: "full disk",
  async run() {
    const filler = path.join(folder, "filler");
    const { bavail, bsize } = await statfs(folder);
    // Writes until the last byte, although PostgreSQL frees and takes some meanwhile.
    await writeFile(filler, Buffer.alloc(bavail * bsize)).catch(() => {});
    for (let round = 0; round < 20; round += 1) {
      await writeFile(`${filler}-${round}`, Buffer.alloc(64 * 1024)).catch(() => {});
      await sleep(ATTACK_MS / 10);
    }
    await rm(filler, { force: true });
    for (let round = 0; round < 20; round += 1) await rm(`${filler}-${round}`, { force: true });
  },
});

await main();
