/** Copies of the clone that runs the tests, as it is, without what `npm ci`, the build and the tests make. */

import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const clone = fileURLToPath(new URL('../..', import.meta.url))

/** What `npm ci`, the tests and `npm pack` make, and the history. */
const NOT_COPIED =
  /^(?:\.git|node_modules|dist|npm-shrinkwrap\.json|sbom\.cdx\.json|THIRD_PARTY_LICENSES|.*\.tgz)$/

export function copyClone(to: string): void {
  for (const name of readdirSync(clone).filter((each) => !NOT_COPIED.test(each)))
    cpSync(join(clone, name), join(to, name), { recursive: true })
}
