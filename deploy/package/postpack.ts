/** Takes away what `prepack` has put beside the files of the clone, or in their place. */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { restoreManifest } from './manifest.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

restoreManifest(root)
for (const name of ['npm-shrinkwrap.json', 'sbom.cdx.json', 'THIRD_PARTY_LICENSES'])
  rmSync(join(root, name), { force: true })
