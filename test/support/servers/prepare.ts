/**
 * Finds, or fetches, what the tests start, and makes what they copy: to be run once before the tests, so that
 * no test has to wait for it. They do the same when it was not.
 */

import { findProgram } from './binaries.ts'
import { prepareTemplate } from './postgres-template.ts'

for (const name of ['redis-server', 'postgres'] as const) {
  const { path } = await findProgram(name)
  console.log(`${name}: ${path}`)
}
await prepareTemplate()
