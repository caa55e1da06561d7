import { afterAll, describe, expect, test } from "vitest";

import { scrip, startInstallation } from "./installation.ts";

const installation = await startInstallation();
afterAll(() => installation[Symbol.asyncDispose]());
const { env } = installation;

const createProject = async (...args: readonly string[]): Promise<string> =>
  (await scrip(env, "--json", "projects", "create", "--name", "A shop", ...args)).json.id;

describe("projects", () => {
  test("creates, shows, changes, lists and deletes projects", async () => {
    const created = await scrip(
      env,
      "projects",
      "create",
      "--name",
      "Toys",
      "--timezone",
      "Europe/Warsaw",
      "--json",

      "--trusted-domains",
      "https://toys.example",
      "--set",
      'default_code_config={"length":12}',
    );
    expect(created).toMatchObject({
      exitCode: 0,
      json: {
        name: "Toys",
        timezone: "Europe/Warsaw",
        client_trusted_domains: ["https://toys.example"],
        default_code_config: { length: 12 },
        server_side_key: { app_id: expect.any(String), app_token: expect.any(String) },
      },
    });
    const { id } = created.json;

    await scrip(env, "projects", "update", id, "--currency", "PLN");
    const { json: shown } = await scrip(env, "projects", "show", id, "--json");
    expect(shown).toMatchObject({ name: "Toys", currency: "PLN" });

    const listed = await scrip(env, "projects", "list");
    expect(listed.out).toMatch(new RegExp(`${id} +Toys +Europe/Warsaw +no`));

    expect(await scrip(env, "projects", "delete", id, "--yes")).toMatchObject({ exitCode: 0 });
    expect(await scrip(env, "projects", "show", id)).toMatchObject({
      exitCode: 1,
      errors: expect.stringContaining("404 not_found"),
    });
  });

  test("does not delete without --yes", async () => {
    const id = await createProject();
    expect(await scrip(env, "projects", "delete", id)).toMatchObject({
      exitCode: 2,
      errors: "scrip: this cannot be undone: repeat the command with --yes\n",
    });
    expect(await scrip(env, "projects", "show", id)).toMatchObject({ exitCode: 0 });
  });

  test("sets the clock of sandbox projects only", async () => {
    const sandbox = await createProject("--sandbox");
    const set = await scrip(env, "projects", "clock", sandbox, "2030-01-31T12:00:00Z", "--json");
    expect(set.json.now).toBe("2030-01-31T12:00:00.000Z");
    const returned = await scrip(env, "projects", "clock", sandbox, "real", "--json");
    expect(returned.json.now).toBeNull();

    expect(await scrip(env, "projects", "clock", await createProject(), "real")).toMatchObject({
      exitCode: 1,
      errors: expect.stringContaining("403 forbidden"),
    });
    expect(await scrip(env, "projects", "clock", sandbox, "tomorrow")).toMatchObject({
      exitCode: 2,
    });
  });

  test("reports API errors with their request id", async () => {
    const rejected = await scrip(env, "projects", "create", "--name", "X", "--timezone", "Mars");
    expect(rejected).toMatchObject({ exitCode: 1, out: "" });
    expect(rejected.errors).toMatch(
      /^scrip: POST .*: 400 invalid_payload: .*timezone.* \(request v-\w+\)\n$/,
    );
  });
});

describe("keys", () => {
  test("creates, lists, blocks, regenerates and deletes keys", async () => {
    const project = await createProject();
    const created = await scrip(
      env,
      "keys",
      "create",
      project,
      "--json",
      "--name",
      "till",
      "--scope",
      "vouchers",
    );
    expect(created.json).toMatchObject({ kind: "server", scopes: ["vouchers"], blocked: false });
    const { app_id: id, app_token: token } = created.json;
    expect((await scrip(env, "keys", "list", project)).out).not.toContain(token);

    const regenerated = await scrip(env, "keys", "regenerate", project, id, "--yes", "--json");
    expect(regenerated.json.app_token).not.toBe(token);
    const own = { ...env, SCRIP_APP_ID: id, SCRIP_APP_TOKEN: regenerated.json.app_token };
    expect(await scrip(own, "token", "--scope", "vouchers")).toMatchObject({ exitCode: 0 });

    expect((await scrip(env, "keys", "block", project, id, "--json")).json.blocked).toBe(true);
    expect(await scrip(own, "token", "--scope", "vouchers")).toMatchObject({
      exitCode: 1,
      errors: expect.stringContaining("401 unauthorized"),
    });

    await scrip(env, "keys", "delete", project, id, "--yes");
    const { json: left } = await scrip(env, "keys", "list", project, "--json");
    expect(left.map((key: { name: string }) => key.name)).not.toContain("till");
  });

  test("rejects an unknown kind of key", async () => {
    expect(
      await scrip(env, "keys", "create", "proj_1", "--name", "x", "--kind", "other"),
    ).toMatchObject({ exitCode: 2, errors: expect.stringContaining("server, client") });
  });
});

test("prints a token without a label, ready for a header", async () => {
  const { out } = await scrip(env, "token");
  expect(out).toMatch(/^\S+\n$/);
  const { json } = await scrip(env, "token", "--client", "--json");
  expect(json).toMatchObject({ scope: "client_api", token_type: "Bearer" });
});

test("names an installation that does not respond", async () => {
  const unreachable = { ...env, SCRIP_BASE_URL: "http://127.0.0.1:9" };
  expect(await scrip(unreachable, "projects", "list")).toMatchObject({
    exitCode: 1,
    errors: expect.stringMatching(/^scrip: http:\/\/127\.0\.0\.1:9 does not respond \(.+\)/),
  });
});
