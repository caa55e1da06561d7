// Everything comes from this server: no fonts, proxies, assistants or telemetry of others.
globalThis.Scalar.createApiReference("#reference", {
  url: "/openapi.json",
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: "never",
  hideClientButton: true,
  // The field at the top finds operations and pages.
  hideSearch: true,
  // What search results link to.
  generateOperationSlug: ({ operationId }) => operationId,
  defaultOpenAllTags: false,
  persistAuth: false,
  metaData: { title: "API reference · Scrip" },
});
