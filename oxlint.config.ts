import { defineConfig, type DummyRuleMap } from "oxlint";

/**
 * The RPC calls between services, without cycles: a service may import the client of its callees
 * only.
 */
export const CALLEES: Record<string, readonly string[]> = {
  gateway: ["export", "validation", "voucher", "campaign", "loyalty"],
  export: ["validation", "campaign", "voucher", "loyalty"],
  validation: ["voucher", "campaign", "loyalty"],
  campaign: ["voucher"],
  voucher: ["loyalty"],
  loyalty: [],
};

const mayNotImport = (group: string[], message: string): DummyRuleMap => ({
  "no-restricted-imports": ["error", { patterns: [{ group, message }] }],
});

const notCalledBy = (service: string): string[] =>
  Object.keys(CALLEES).filter((name) => name !== service && !CALLEES[service]?.includes(name));

const IMPURE_PACKAGES = [
  "@scrip/**",
  "!@scrip/errors",
  "!@scrip/filters",
  "!@scrip/metadata",
  "!@scrip/money",
  "!@scrip/rules",
  "node:*",
];

const PURE_DOMAIN = "domain/ is pure: no I/O, no clock, no randomness, nothing outside domain/";

/** Tests and the tables of test cases beside them. */
const DOMAIN_TESTS = ["**/*.test.ts", "**/*.test-cases.ts"];

/**
 * The folders of validation's domain/, lowest first: each imports only those before it. The files
 * of domain/ itself (decide.ts, evaluate.ts, …) are above all folders.
 */
const VALIDATION_DOMAIN = [
  "input",
  "rejections",
  "order",
  "stacking",
  "catalogue",
  "applicable-items",
  "formulas",
  "counts",
  "bundles",
  "decision",
  "eligibility",
  "unit-discounts",
  "pricing",
  "explanation",
  "qualification",
  "redemption",
];

/**
 * The layers of validation, lowest first: each imports only those before it. handlers/ and the folders
 * by use case are above them.
 */
const VALIDATION_LAYERS = ["domain", "store", "mapping", "loading"];
const ABOVE_VALIDATION_LAYERS = [
  "catalogue",
  "commit",
  "handlers",
  "order",
  "qualification",
  "redemption",
  "rollback",
  "rules",
  "session",
  "validation",
];

export default defineConfig({
  plugins: ["typescript", "unicorn", "import", "node", "vitest", "promise", "oxc"],
  categories: { correctness: "error", suspicious: "error", perf: "warn" },
  // The processes of peers import packages that only their own folder installs.
  ignorePatterns: ["proto/gen/**", "test/load/peers/*-process.ts"],
  rules: {
    "typescript/no-floating-promises": "error",
    "typescript/switch-exhaustiveness-check": [
      "error",
      { considerDefaultExhaustiveForUnions: true },
    ],
    "typescript/consistent-type-imports": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-non-null-assertion": "error",
    "typescript/no-unnecessary-type-parameters": "off",
    // Parsed JSON, rows and reflected messages are asserted to their type after they are checked.
    "typescript/no-unsafe-type-assertion": "off",
    // Imports of types count too: shared types belong in leaf files.
    "import/no-cycle": ["error", { ignoreTypes: false }],
    "import/no-default-export": "error",
    "import/no-named-as-default-member": "off",
    "max-lines-per-function": ["error", { max: 60, skipComments: true, skipBlankLines: true }],
    "max-lines": ["error", { max: 400, skipComments: true, skipBlankLines: true }],
    "max-params": ["error", { max: 4 }],
    "no-await-in-loop": "off",
    // The compiler checks returns, also behind exhaustive switches.
    "typescript/consistent-return": "off",
    // Some loops wait for a variable that a callback or another task changes, which the rule cannot
    // see.
    "no-unmodified-loop-condition": "off",
    // The second argument of expect is the message of a failure; properties assert inside
    // fc.assert.
    "vitest/valid-expect": ["error", { maxArgs: 2 }],
    "vitest/no-conditional-expect": "off",
    "vitest/expect-expect": ["error", { assertFunctionNames: ["expect*", "assert*", "fc.assert"] }],
    "oxc/no-map-spread": "off",
  },
  overrides: [
    ...Object.keys(CALLEES).map((service) => ({
      files: [service === "gateway" ? "gateway/src/**" : `services/${service}/src/**`],
      rules: mayNotImport(
        notCalledBy(service).map((name) => `@scrip/proto/scrip/${name}/**`),
        `${service} must not call this service: see CALLEES in oxlint.config.ts`,
      ),
    })),
    {
      files: ["{gateway,services/*}/src/domain/**"],
      excludeFiles: DOMAIN_TESTS,
      rules: {
        ...mayNotImport([...IMPURE_PACKAGES, "../**"], PURE_DOMAIN),
        "no-restricted-globals": ["error", "Date", "process", "fetch", "setTimeout"],
      },
    },
    {
      // A folder of domain/ may import its siblings, and nothing outside domain/.
      files: ["{gateway,services/*}/src/domain/*/**"],
      excludeFiles: DOMAIN_TESTS,
      rules: mayNotImport([...IMPURE_PACKAGES, "../../**"], PURE_DOMAIN),
    },
    {
      files: ["{gateway,services/**}/src/**"],
      excludeFiles: ["**/*.test.ts", "services/shared/testing/**"],
      rules: {
        "no-restricted-properties": [
          "error",
          { object: "Date", property: "now", message: "use currentTime of @scrip/clock" },
        ],
      },
    },
    ...VALIDATION_LAYERS.slice(1).map((layer, at) => ({
      files: [`services/validation/src/${layer}/**`],
      rules: mayNotImport(
        [
          ...notCalledBy("validation").map((name) => `@scrip/proto/scrip/${name}/**`),
          ...[...VALIDATION_LAYERS.slice(at + 2), ...ABOVE_VALIDATION_LAYERS].map(
            (folder) => `../${folder}/**`,
          ),
        ],
        `${layer}/ imports only the layers before it in VALIDATION_LAYERS, and services in CALLEES`,
      ),
    })),
    ...VALIDATION_DOMAIN.map((folder, at) => ({
      files: [`services/validation/src/domain/${folder}/**`],
      excludeFiles: DOMAIN_TESTS,
      rules: mayNotImport(
        [
          ...IMPURE_PACKAGES,
          "../../**",
          "../*.ts",
          ...VALIDATION_DOMAIN.slice(at + 1).map((later) => `../${later}/**`),
        ],
        `${PURE_DOMAIN}; ${folder}/ imports only the folders before it in VALIDATION_DOMAIN`,
      ),
    })),
    {
      files: ["**/*.test.ts", "**/*.test-cases.ts", "**/test/**", "test/**", "**/testing/**"],
      rules: {
        "max-lines-per-function": "off",
        // Helpers are declared beside the test that uses them.
        "unicorn/consistent-function-scoping": "off",
        "oxc/no-accumulating-spread": "off",
        // A wrong assumption about a type or a value fails the test, which is enough.
        "typescript/no-explicit-any": "off",
        "typescript/no-non-null-assertion": "off",
      },
    },
    {
      files: ["*.config.ts", "**/global-setup.ts"],
      rules: { "import/no-default-export": "off" },
    },
  ],
});
