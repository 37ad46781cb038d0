/**
 * Preloaded (`--import`) into the processes of test files and of the `seatgate` that they start, so that they
 * begin sooner: packages come from bundles, other modules are where their imports say, without a search in
 * the file system, and the test file has no types any more.
 */

import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { BUNDLES } from './bundles.ts'

const { SEATGATE_TEST_STRIPPED: stripped } = process.env
// Not for what the tests start.
delete process.env['SEATGATE_TEST_STRIPPED']
const main = pathToFileURL(process.argv[1] ?? '').href

registerHooks({
  resolve(specifier, context, next) {
    const { conditions, parentURL } = context
    const bundle = conditions.includes('import') ? BUNDLES.get(specifier) : undefined
    if (bundle !== undefined) return { url: bundle, format: 'module', shortCircuit: true }
    if (parentURL === undefined || !/^\..*\.ts$/.test(specifier)) return next(specifier, context)
    return { url: new URL(specifier, parentURL).href, format: 'module-typescript', shortCircuit: true }
  },
  load(url, context, next) {
    if (stripped === undefined || url !== main) return next(url, context)
    return { source: readFileSync(stripped), format: 'module', shortCircuit: true }
  },
})
