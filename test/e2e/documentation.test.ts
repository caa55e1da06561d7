import { describe, expect, test } from "vitest";

import { docsPages, examplesOf } from "../docs/examples.ts";
import { runExamples } from "../docs/run-examples.ts";
import { clientApi, managementApi, newCode, serverApi } from "../stack/api.ts";
import { sharedStack, type SharedStack } from "../stack/stack.ts";

/** Pages that describe no behaviour of their own, or commands: tests of the CLI run those. */
const WITHOUT_EXAMPLES = new Set([
  "README.md",
  "configuration-files.md",
  "moving.md",
  "threat-model.md",
]);

/** Each page has a project of its own, so that its codes are free and its settings concern nobody. */
describe("the documentation", async () => {
  const stack = await sharedStack("standalone");

  test.each(docsPages())("$file shows examples that hold", async ({ file, text }) => {
    const examples = examplesOf(text);
    if (!WITHOUT_EXAMPLES.has(file)) expect(examples).not.toHaveLength(0);
    expect(await runExamples(examples, await newTarget(stack))).toBeUndefined();
  });
});

async function newTarget(stack: SharedStack) {
  const created = await managementApi(stack).post("/management/v1/projects", {
    name: newCode("docs"),
    client_trusted_domains: ["*"],
    client_redeem_enabled: true,
    client_publish_enabled: true,
    sandbox: true,
  });
  expect(created.status, created.text).toBe(200);
  const { app_id: appId, app_token: appToken } = created.body["server_side_key"];
  const { app_id: clientAppId, app_token: clientToken } = created.body["client_side_key"];
  const keys = { ...stack.keys, appId, appToken, clientAppId, clientToken };
  const project = { ...stack, keys };
  return {
    url: stack.url,
    credentials: {
      server: (await serverApi(project)).headers,
      client: (await clientApi(project, "https://shop.example")).headers,
      management: managementApi(project).headers,
    },
    variables: new Map([
      ["project_id", created.body["id"] as string],
      ["app_id", appId as string],
      ["app_token", appToken as string],
    ]),
  };
}
