/** The steps that look at the package find each fault that is planted in an installation. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { bundledPaths } from '../../deploy/package/bundled.ts'
import { thirdPartyLicenses } from '../../deploy/package/licenses.ts'
import { nameOf, readLockFile, runtimePackages } from '../../deploy/package/lock-file.ts'
import { sbomOf } from '../../deploy/package/sbom.ts'
import { serverFolder } from '../support/servers/folder.ts'
import { licenses, sameBytes, sbom } from './package-steps.ts'
import type { Build } from './workshop.ts'

const lock = readLockFile('.')
const bundled = bundledPaths(lock)

function addPackage(modules: string, name: string, version: string): void {
  mkdirSync(join(modules, name), { recursive: true })
  writeFileSync(join(modules, name, 'package.json'), JSON.stringify({ name, version }))
}

/** The manifests of an installation, with the inventories of this clone. */
function installation(t: Test) {
  const modules = serverFolder(t, 'installation')
  for (const [path, { version }] of runtimePackages(lock)) addPackage(modules, nameOf(path), version)
  addPackage(modules, 'seatgate', lock.version)
  const own = (name: string) => join(modules, 'seatgate', name)
  writeFileSync(own('sbom.cdx.json'), JSON.stringify(sbomOf(lock, bundled)))
  const paths = [...runtimePackages(lock).keys(), ...bundled]
  writeFileSync(own('THIRD_PARTY_LICENSES'), thirdPartyLicenses(lock, paths, '.'))
  const change = (name: string, from: string, to: string) => {
    const text = readFileSync(own(name), 'utf8')
    t.ok(text.includes(from), from)
    writeFileSync(own(name), text.replace(from, to))
  }
  return { modules, change, workshop: { installation: async () => modules } }
}

t.test('an installation without faults', async (t) => {
  const { workshop } = installation(t)
  t.match(await sbom(workshop), /^\d+ packages installed beside seatgate@/)
  t.match(await licenses(workshop), /MIT \d+/)
})

t.test('a package that the SBOM lacks, and another version', async (t) => {
  const { modules, workshop } = installation(t)
  addPackage(modules, '@odd/one', '1.0.0')
  await t.rejects(sbom(workshop), /@odd\/one@1\.0\.0/)
  const other = installation(t)
  addPackage(other.modules, 'jose', '0.0.1')
  await t.rejects(sbom(other.workshop), /jose@0\.0\.1/)
  const nested = installation(t)
  addPackage(join(nested.modules, 'pg/node_modules'), 'split2', '1.0.0')
  await t.rejects(sbom(nested.workshop), /split2@1\.0\.0/)
})

t.test('a licence that is not allowed, and one without its text', async (t) => {
  const { change, workshop } = installation(t)
  change('sbom.cdx.json', '"id":"ISC"', '"id":"GPL-3.0-only"')
  await t.rejects(licenses(workshop), /GPL-3\.0-only\) is not allowed/)
  const other = installation(t)
  other.change('THIRD_PARTY_LICENSES', '\nundici ', '\nundone ')
  await t.rejects(licenses(other.workshop), /undici@.* has no text/)
})

t.test('two packages that differ', async (t) => {
  const build = (sha256: string): Build => ({ clone: '', archive: '', sha256, size: 1 })
  const of = (...hashes: [string, string]) => ({ build: async (which: 0 | 1) => build(hashes[which]) })
  t.match(await sameBytes(of('aa', 'aa')), /sha256 aa and aa/)
  await t.rejects(sameBytes(of('aa', 'bb')), /sha256 aa and bb/)
})
