/**
 * Packages in one file each, for the processes of test files: tap and what a gateway imports are 400 modules,
 * and to find and to load them took each process 0.3 s of CPU. Code that packages share is in files of its
 * own.
 */

import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Those with many modules that many test files load. */
const ES_MODULES = [
  'fast-check',
  'jose',
  'oidc-provider',
  'oidc-provider/lib/adapters/memory_adapter.js',
  'openid-client',
  'tap',
] as const
const COMMON_JS = [
  '@opentelemetry/api',
  'ajv',
  'ajv/dist/2020.js',
  'http-proxy-3',
  'ioredis',
  'pg',
  'pino',
  'prom-client',
  'undici',
  'yaml',
] as const

/**
 * `node:http` without its exports that load `fetch`, which an import of the module would read: 70 ms of CPU
 * time.
 */
const HTTP = 'node:http'
const FETCH: ReadonlySet<string> = new Set(['CloseEvent', 'MessageEvent', 'WebSocket'])

const PACKAGES = [...ES_MODULES, ...COMMON_JS, HTTP]

/** In `node_modules`, so that tap leaves its own lines out of stack traces. */
const FOLDER = new URL('../../node_modules/.cache/bundles/', import.meta.url)

function fileOf(name: string): string {
  return name.replaceAll(/\W+/g, '-')
}

/** Specifier → URL of its bundle. */
export const BUNDLES: ReadonlyMap<string, string> = new Map(
  PACKAGES.map((name) => [name, new URL(`${fileOf(name)}.js`, FOLDER).href]),
)

/** CommonJS modules ask for `require`. */
const REQUIRE = `const require = process.getBuiltinModule('node:module').createRequire(import.meta.url)`

/** Writes the bundles in place of earlier ones, which another run may be reading. */
export async function writeBundles(): Promise<void> {
  // Not above: each test process loads this module.
  const { build } = await import('esbuild')
  const wrappers = new Map<string, string>([[HTTP, await wrapperOf(HTTP, 'process.getBuiltinModule')]])
  for (const name of COMMON_JS) wrappers.set(name, await wrapperOf(name, 'require'))
  const { outputFiles } = await build({
    entryPoints: PACKAGES.map((name) => ({
      in: wrappers.has(name) ? `wrapper:${name}` : name,
      out: fileOf(name),
    })),
    plugins: [
      {
        name: 'wrappers',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^wrapper:/ }, ({ path }) => ({ path: path.slice(8), namespace: 'wrapper' }))
          onLoad({ filter: /^/, namespace: 'wrapper' }, ({ path }) => ({
            contents: wrappers.get(path) ?? '',
            resolveDir: import.meta.dirname,
          }))
        },
      },
    ],
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    banner: { js: REQUIRE },
    outdir: fileURLToPath(FOLDER),
    write: false,
  })
  mkdirSync(FOLDER, { recursive: true })
  for (const { path, contents } of outputFiles) {
    const draft = `${path}.${process.pid}`
    writeFileSync(draft, contents)
    renameSync(draft, path)
  }
}

/** An ES module with the exports that Node.js finds in one that has none by itself. */
async function wrapperOf(name: string, loader: string): Promise<string> {
  const left = new Set(['default', 'module.exports', ...FETCH])
  const names = Object.keys(await import(name)).filter((each) => !left.has(each))
  return `const all = ${loader}('${name}'); export default all; export const { ${names.join(', ')} } = all`
}
