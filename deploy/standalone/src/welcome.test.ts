import { expect, test } from "vitest";

import { welcomeText } from "./welcome.ts";

const scrip = {
  url: "http://localhost:8080",
  grpcUrl: undefined,
  metrics: { url: "http://127.0.0.1:9464/metrics", movedFromDefault: false },
  keysFile: "/data/keys.env",
  variables: { SCRIP_APP_ID: "app_1", SCRIP_APP_TOKEN: "secret-1" },
} as const;

test("shows the keys that the first start created on a terminal", () => {
  const text = welcomeText({ ...scrip, keys: "created" }, true);
  expect(text).toContain("SCRIP_APP_TOKEN=secret-1");
});

test("names the file of the keys where the output is no terminal", () => {
  const text = welcomeText({ ...scrip, keys: "created" }, false);
  expect(text).not.toContain("secret-1");
  expect(text).toContain("The keys of your first project are in /data/keys.env");
});

test("shows no keys that a previous start created", () => {
  const text = welcomeText({ ...scrip, keys: "existing" }, true);
  expect(text).not.toContain("secret-1");
  expect(text).toContain("Keys           /data/keys.env");
});

test("shows the gRPC address if gRPC is served", () => {
  const text = welcomeText({ ...scrip, keys: "existing", grpcUrl: "http://localhost:9090" }, true);
  expect(text).toContain("gRPC           http://localhost:9090");
  expect(welcomeText({ ...scrip, keys: "existing" }, true)).not.toContain("gRPC");
});
