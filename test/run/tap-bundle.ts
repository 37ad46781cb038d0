/**
 * tap in one file, for the processes of test files. To load its 291 modules takes each of them 0.3 s of CPU, which was a
 * fifth of the quick suite; one file takes 0.1 s.
 */

import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A module in `node_modules`, so that tap leaves its own lines out of stack traces. */
export const TAP_BUNDLE = new URL('../../node_modules/.cache/tap.mjs', import.meta.url).href

/** Some of tap's packages are CommonJS modules, which ask for `require`. */
const REQUIRE = `const require = process.getBuiltinModule('node:module').createRequire(import.meta.url)`

/** Writes the bundle in place of an earlier one, which another run may be reading. */
export async function writeTapBundle(): Promise<void> {
  // Not above: each test process loads this module.
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(import.meta.resolve('tap'))],
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: { js: REQUIRE },
    write: false,
  })
  const path = fileURLToPath(TAP_BUNDLE)
  const written = `${path}.${process.pid}`
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(written, outputFiles[0]?.contents ?? '')
  renameSync(written, path)
}
