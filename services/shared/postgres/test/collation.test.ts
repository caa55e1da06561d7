import { asAdmin, emptyDatabase } from "@scrip/testing";
import { afterAll, expect, test } from "vitest";

import { sortsByBytes } from "../src/index.ts";

const server = await emptyDatabase();
afterAll(() => server[Symbol.asyncDispose]());

test.each([
  { locale: "locale_provider libc locale 'C'", bytewise: true },
  { locale: "locale_provider builtin builtin_locale 'C.UTF-8' locale 'C'", bytewise: true },
  { locale: "locale_provider icu icu_locale 'en' locale 'C'", bytewise: false },
])("a database with $locale sorts by bytes: $bytewise", async ({ locale, bytewise }) => {
  const name = `${new URL(server.url).pathname.slice(1)}_collated`;
  await asAdmin(server.url, (client) =>
    client.query(`create database ${name} template template0 encoding 'UTF8' ${locale}`),
  );
  try {
    const url = Object.assign(new URL(server.url), { pathname: `/${name}` }).href;
    await asAdmin(url, async (client) => {
      const { rows } = await client.query("select 'B' < 'a' as before");
      expect(rows).toEqual([{ before: bytewise }]);
      expect(await sortsByBytes(client)).toBe(bytewise);
    });
  } finally {
    await asAdmin(server.url, (client) => client.query(`drop database ${name}`));
  }
});
