import path from "node:path";

import { asAdmin, emptyDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { migrate, sortsByBytes } from "../src/index.ts";

const server = await emptyDatabase();
afterAll(() => server[Symbol.asyncDispose]());

/** Runs `work` with a database that has these options. */
async function inDatabase(options: string, work: (url: string) => Promise<void>): Promise<void> {
  const name = `${new URL(server.url).pathname.slice(1)}_collated`;
  await asAdmin(server.url, (client) =>
    client.query(`create database ${name} template template0 ${options}`),
  );
  try {
    await work(Object.assign(new URL(server.url), { pathname: `/${name}` }).href);
  } finally {
    await asAdmin(server.url, (client) => client.query(`drop database ${name}`));
  }
}

test.each([
  { locale: "locale_provider libc locale 'C'", bytewise: true },
  { locale: "locale_provider builtin builtin_locale 'C.UTF-8' locale 'C'", bytewise: true },
  { locale: "locale_provider icu icu_locale 'en' locale 'C'", bytewise: false },
])("a database with $locale sorts by bytes: $bytewise", ({ locale, bytewise }) =>
  inDatabase(`encoding 'UTF8' ${locale}`, (url) =>
    asAdmin(url, async (client) => {
      const { rows } = await client.query("select 'B' < 'a' as before");
      expect(rows).toEqual([{ before: bytewise }]);
      expect(await sortsByBytes(client)).toBe(bytewise);
    }),
  ),
);

test.each(["SQL_ASCII", "LATIN1"])("a database in %s is not migrated", (encoding) =>
  inDatabase(`encoding '${encoding}' locale 'C'`, async (url) => {
    const folder = path.join(import.meta.dirname, "fixture/till");
    await expect(migrate({ url, schema: "till", role: "scrip_till", folder })).rejects.toThrow(
      `Scrip needs a database with the encoding UTF8, and this one has ${encoding}.`,
    );
  }),
);
