/** The inventories of the package, from the lock file. */

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { bundledPaths } from '../../deploy/package/bundled.ts'
import { isAllowed, thirdPartyLicenses } from '../../deploy/package/licenses.ts'
import {
  type LockFile,
  type LockedPackage,
  nameOf,
  readLockFile,
  runtimePackages,
  shrinkwrapOf,
} from '../../deploy/package/lock-file.ts'
import { packedManifest, replaceManifest, restoreManifest } from '../../deploy/package/manifest.ts'
import { type Component, type Sbom, sbomOf } from '../../deploy/package/sbom.ts'
import { serverFolder } from '../support/servers/folder.ts'

const lock = readLockFile('.')
const clone = JSON.parse(readFileSync('package.json', 'utf8'))

t.test('the SBOM has what that of npm has', async (t) => {
  // With `--omit dev`, npm leaves out what a development dependency needs too. There is none in the shrinkwrap.
  const folder = serverFolder(t, 'sbom')
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...clone, devDependencies: {} }))
  writeFileSync(join(folder, 'npm-shrinkwrap.json'), JSON.stringify(shrinkwrapOf(lock, clone)))
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']
  const options = { cwd: folder, encoding: 'utf8' } as const
  const text = execFileSync('env', ['-u', 'NODE_OPTIONS', 'npm', ...words], options)
  const theirs: Sbom = JSON.parse(text)
  const ours = sbomOf(lock, [])
  const facts = ({ 'bom-ref': ref, name, version, purl, hashes, licenses, scope }: Component) => ({
    ...{ ref, name, version, purl, hashes, licenses, scope },
  })
  const sorted = (components: readonly Component[]) =>
    components.map(facts).sort((a, b) => (a.ref < b.ref ? -1 : 1))
  t.same(sorted(ours.components), sorted(theirs.components))
  const graph = ({ dependencies }: Sbom) =>
    Object.fromEntries(dependencies.map(({ ref, dependsOn }) => [ref, [...dependsOn].sort()]))
  t.same(graph(ours), graph(theirs))
  t.notMatch(JSON.stringify(ours), /serialNumber|timestamp/)
})

t.test('the SBOM has what is inside, too', async (t) => {
  const { components, dependencies, metadata } = sbomOf(lock, bundledPaths(lock))
  const inside = components.filter(({ properties }) => properties?.[0]?.name === 'cdx:npm:package:bundled')
  const names = inside.map(({ name }) => name)
  for (const name of ['preact', 'htm', '@preact/signals-core', 'pino-pretty', 'wrappy'])
    t.ok(names.includes(name), name)
  t.notOk(names.includes('pino'), 'which is installed')
  const [own] = dependencies
  t.equal(own?.ref, metadata.component['bom-ref'])
  t.ok(inside.every((each) => own?.dependsOn.includes(each['bom-ref'])))
})

/** The lock file with another package. */
function withPackage(path: string, entry: LockedPackage): LockFile {
  return { ...lock, packages: { ...lock.packages, [path]: entry } }
}

t.test('a package that nothing pins is refused', async (t) => {
  const entry = { version: '1.0.0', license: 'MIT' }
  for (const integrity of [undefined, 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk='])
    t.throws(
      () =>
        runtimePackages(
          withPackage('node_modules/odd', { ...entry, ...(integrity !== undefined && { integrity }) }),
        ),
      /node_modules\/odd/,
    )
})

t.test('licences', async (t) => {
  for (const license of ['MIT', '(MIT OR GPL-3.0-only)', 'BlueOak-1.0.0']) t.ok(isAllowed(license), license)
  for (const license of [
    '',
    'GPL-3.0-only',
    'MIT AND GPL-3.0-only',
    'SEE LICENSE IN EULA',
    'mit',
    'UNLICENSED',
  ])
    t.notOk(isAllowed(license), license)
  const odd = withPackage('node_modules/odd', { version: '1.0.0', license: 'AGPL-3.0-only' })
  t.throws(
    () => thirdPartyLicenses(odd, ['node_modules/pino', 'node_modules/odd'], '.'),
    /odd 1\.0\.0 \(AGPL-3\.0-only\)/,
  )
  const missing = withPackage('node_modules/odd', { version: '1.0.0', license: 'MIT' })
  t.throws(() => thirdPartyLicenses(missing, ['node_modules/odd'], '.'), /node_modules\/odd is missing/)
})

t.test('each text is there, also of packages that have it in their README alone', async (t) => {
  const paths = [...runtimePackages(lock).keys(), ...bundledPaths(lock)]
  const text = thirdPartyLicenses(lock, paths, '.')
  const parts = text.split(`\n\n${'-'.repeat(80)}\n\n`).slice(1)
  t.equal(parts.length, paths.length)
  for (const part of parts) t.match(part, /copyright|permission|license/i, part.slice(0, 40))
  t.match(text, /^pg-types .*\n\n[^-]*Copyright \(c\) 2014 Brian M\. Carlson/m)
  t.match(text, /^@opentelemetry\/api .*\n\n\s*Apache License/m)
})

t.test('package.json of the package pins each version, and has nothing for development', async (t) => {
  const { dependencies, optionalDependencies, ...rest } = packedManifest(clone, lock)
  const pins = { ...dependencies, ...optionalDependencies }
  for (const [path, { version }] of runtimePackages(lock)) t.equal(pins[nameOf(path)], version)
  t.equal(Object.keys(pins).length, runtimePackages(lock).size)
  t.same(Object.keys(optionalDependencies), ['pg-cloudflare'])
  const left = ['dependencies', 'devDependencies', 'scripts', 'allowScripts']
  t.same(rest, Object.fromEntries(Object.entries(clone).filter(([name]) => !left.includes(name))))
  const second = withPackage('node_modules/pino/node_modules/split2', {
    ...{ version: '1.0.0', integrity: 'sha512-AA==' },
  })
  t.throws(() => packedManifest(clone, second), /node_modules\/pino\/node_modules\/split2/)
})

t.test('the clone gets its files back, also after a run that was killed', async (t) => {
  const folder = serverFolder(t, 'manifest')
  const own = join(folder, 'package.json')
  writeFileSync(own, '{"name":"clone"}')
  replaceManifest(folder, { name: 'packed' })
  replaceManifest(folder, { name: 'packed again' })
  t.match(readFileSync(own, 'utf8'), 'packed again')
  for (const _ of ['once', 'twice']) {
    restoreManifest(folder)
    t.equal(readFileSync(own, 'utf8'), '{"name":"clone"}')
  }
  t.same(readdirSync(folder), ['package.json'])
})
