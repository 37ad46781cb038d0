/**
 * What `npm pack` and `npm publish` do after the build, before npm takes the files. `postpack` removes the files again: with
 * `npm-shrinkwrap.json`, `npm ci` would not install what development needs.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundledPaths } from './bundled.ts'
import { thirdPartyLicenses } from './licenses.ts'
import { readLockFile, runtimePackages, shrinkwrapOf } from './lock-file.ts'
import { packedManifest, replaceManifest, restoreManifest } from './manifest.ts'
import { setModes } from './modes.ts'
import { sbomOf } from './sbom.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
// An earlier run may have been killed.
restoreManifest(root)
const lock = readLockFile(root)
const bundled = bundledPaths(lock)
const manifest = packedManifest(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')), lock)
const texts = {
  THIRD_PARTY_LICENSES: thirdPartyLicenses(lock, [...runtimePackages(lock).keys(), ...bundled], root),
  'sbom.cdx.json': `${JSON.stringify(sbomOf(lock, bundled), null, 1)}\n`,
  'npm-shrinkwrap.json': `${JSON.stringify(shrinkwrapOf(lock, manifest), null, 1)}\n`,
}
for (const [name, text] of Object.entries(texts)) writeFileSync(join(root, name), text)
replaceManifest(root, manifest)
setModes(root)
