/** Removes what `prepack` has written beside the files of the clone. */

import { rmSync } from 'node:fs'

for (const name of ['npm-shrinkwrap.json', 'sbom.cdx.json', 'THIRD_PARTY_LICENSES'])
  rmSync(new URL(`../../${name}`, import.meta.url), { force: true })
