import { defineConfig, type DummyRuleMap } from "oxlint";

/**
 * The service graph. A caller may import the generated client of its callees and of nobody else:
 * an edge that is not listed here does not exist.
 */
const calls: Record<string, readonly string[]> = {
  gateway: ["validation", "voucher", "campaign", "loyalty", "export"],
  validation: ["voucher", "campaign", "loyalty"],
  campaign: ["voucher"],
  voucher: ["loyalty"],
  loyalty: [],
  export: ["validation", "campaign", "voucher", "loyalty"],
};

const mayNotImport = (group: string[], message: string): DummyRuleMap => ({
  "no-restricted-imports": ["error", { patterns: [{ group, message }] }],
});

const strangersOf = (service: string): string[] =>
  Object.keys(calls).filter((name) => name !== service && !calls[service]?.includes(name));

const IMPURE_PACKAGES = [
  "@scrip/**",
  "!@scrip/errors",
  "!@scrip/filters",
  "!@scrip/money",
  "!@scrip/rules",
  "node:*",
];

const PURE_DOMAIN = "domain/ is pure: no I/O, no clock, no randomness, nothing outside domain/";

/** Tables of test cases lie beside their tests. */
const DOMAIN_TESTS = ["**/*.test.ts", "**/*.test-cases.ts"];

export default defineConfig({
  plugins: ["typescript", "unicorn", "import", "node", "vitest", "promise", "oxc"],
  categories: { correctness: "error", suspicious: "error", perf: "warn" },
  ignorePatterns: ["proto/gen/**"],
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
    // Parsed JSON, rows and reflected messages get their type where they enter, after their checks.
    "typescript/no-unsafe-type-assertion": "off",
    "import/no-cycle": "error",
    "import/no-default-export": "error",
    "import/no-named-as-default-member": "off",
    "max-lines-per-function": ["error", { max: 60, skipComments: true, skipBlankLines: true }],
    "max-lines": ["error", { max: 400, skipComments: true, skipBlankLines: true }],
    "max-params": ["error", { max: 4 }],
    "no-await-in-loop": "off",
    // The compiler proves returns, and knows when a switch is exhaustive.
    "typescript/consistent-return": "off",
    // Loops here wait for what a callback or another task changes, which the rule cannot see.
    "no-unmodified-loop-condition": "off",
    // The second argument is what a failure says; properties assert inside fc.assert.
    "vitest/valid-expect": ["error", { maxArgs: 2 }],
    "vitest/no-conditional-expect": "off",
    "vitest/expect-expect": ["error", { assertFunctionNames: ["expect*", "assert*", "fc.assert"] }],
    "oxc/no-map-spread": "off",
  },
  overrides: [
    ...Object.keys(calls).map((service) => ({
      files: [service === "gateway" ? "gateway/src/**" : `services/${service}/src/**`],
      rules: mayNotImport(
        strangersOf(service).map((name) => `@scrip/proto/scrip/${name}/**`),
        `${service} does not call this service: see the graph in oxlint.config.ts`,
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
      files: [
        "**/*.test.ts",
        "**/*.scenarios.ts",
        "**/*.test-cases.ts",
        "**/test/**",
        "test/**",
        "**/testing/**",
      ],
      rules: {
        "max-lines-per-function": "off",
        // A helper stands beside the one test that it serves.
        "unicorn/consistent-function-scoping": "off",
        "oxc/no-accumulating-spread": "off",
        // A test that is wrong about what is there fails, which is all that is asked of it.
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
