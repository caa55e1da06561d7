import { Client } from "pg";

import type { LoadSpec } from "./load-client.ts";
import type { Standalone } from "./standalone.ts";

/** A shop as side B sees it: its credentials, one hot code, and many others. */
export type Shop = {
  readonly hot: readonly string[];
  readonly many: readonly string[];
  /** The load of redeeming, or of validating, the given codes. */
  load(of: Load): LoadSpec;
  /** Redemptions that are in the database. */
  countRedemptions(): Promise<number>;
};

export type Load = Omit<LoadSpec, "port" | "before" | "after" | "ratePerSecond"> & {
  readonly action: "redemption" | "validate";
  readonly ratePerSecond?: number;
  readonly body?: string;
};

const HOT = "BENCH-HOT";
const DISCOUNT = { type: "PERCENT", percent_off: 10 };

export async function openShop(
  standalone: Standalone,
  databaseUrl: string,
  codes: number,
): Promise<Shop> {
  const headers = { ...(await authenticate(standalone)), "Content-Type": "application/json" };
  await post(standalone, "/v1/vouchers", {
    headers,
    body: JSON.stringify({ code: HOT, type: "DISCOUNT_VOUCHER", discount: DISCOUNT }),
  });
  await copyVoucher(databaseUrl, HOT, codes);
  const { port } = standalone;
  return {
    hot: [HOT],
    many: Array.from({ length: codes }, (_, index) => codeOf(index + 1)),
    load: ({ action, body = "{}", ratePerSecond = null, ...rest }) => ({
      ...rest,
      ratePerSecond,
      port,
      before: "POST /v1/vouchers/",
      after:
        `/${action} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
        Object.entries({ ...headers, "Content-Length": String(Buffer.byteLength(body)) })
          .map(([name, value]) => `${name}: ${value}\r\n`)
          .join("") +
        `\r\n${body}`,
    }),
    countRedemptions: () => countRedemptions(databaseUrl),
  };
}

async function authenticate({ port, keys }: Standalone): Promise<Record<string, string>> {
  const application = {
    "X-App-Id": keys["SCRIP_APP_ID"] ?? "",
    "X-App-Token": keys["SCRIP_APP_TOKEN"] ?? "",
  };
  const { access_token: token } = await post({ port }, "/v1/oauth/token", {
    headers: { ...application, "Content-Type": "application/x-www-form-urlencoded" },
    body: "grant_type=client_credentials&scope=api",
  });
  return { ...application, Authorization: `Bearer ${String(token)}` };
}

async function post(
  { port }: { port: number },
  route: string,
  request: { headers: Record<string, string>; body: string },
): Promise<Record<string, unknown>> {
  const answer = await fetch(`http://127.0.0.1:${port}${route}`, { method: "POST", ...request });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`POST ${route} answered ${answer.status}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

const codeOf = (number: number): string => `BENCH-${String(number).padStart(7, "0")}`;

/**
 * Makes many vouchers that differ from one only in their ids and codes. By SQL, because 100,000
 * calls would take longer than all measuring; what is measured does not see the difference.
 */
async function copyVoucher(databaseUrl: string, code: string, copies: number): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    const values = [code, copies];
    await client.query(
      `insert into voucher
       select copy.*
         from voucher as original
        cross join generate_series(1, $2::int8) as number
        cross join lateral jsonb_populate_record(original, jsonb_build_object(
                'id', 'v_' || lpad(to_hex(number), 18, '0'),
                'code', 'BENCH-' || lpad(number::text, 7, '0'),
                'code_key', 'BENCH-' || lpad(number::text, 7, '0'),
                'asset_id', 'bench-' || number)) as copy
        where original.code = $1`,
      values,
    );
    await client.query(
      `insert into voucher_usage
       select copy.*
         from voucher as original
         join voucher_usage as usage
           on usage.project_id = original.project_id and usage.voucher_id = original.id
        cross join generate_series(1, $2::int8) as number
        cross join lateral jsonb_populate_record(usage, jsonb_build_object(
                'voucher_id', 'v_' || lpad(to_hex(number), 18, '0'))) as copy
        where original.code = $1`,
      values,
    );
    await client.query("vacuum analyze");
  });
}

async function countRedemptions(databaseUrl: string): Promise<number> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ noted: string; counted: string }>(
      `select (select count(*) from redemption where status = 'SUCCEEDED') as noted,
              (select sum(redeemed_quantity) from voucher_usage) as counted`,
    );
    const { noted, counted } = rows[0] ?? {};
    if (noted !== counted) {
      throw new Error(`${noted} redemptions are noted, but vouchers count ${counted}`);
    }
    return Number(noted);
  });
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, options: "-c search_path=voucher" });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
