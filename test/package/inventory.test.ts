/** The inventories of the package, from the lock file. */

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { bundledPaths } from '../../deploy/package/bundled.ts'
import { isAllowed, thirdPartyLicenses } from '../../deploy/package/licenses.ts'
import {
  type LockFile,
  type LockedPackage,
  readLockFile,
  runtimePackages,
  shrinkwrapOf,
} from '../../deploy/package/lock-file.ts'
import { serverFolder } from '../support/servers/folder.ts'
import { type Component, type Sbom, sbomOf } from '../../deploy/package/sbom.ts'

const lock = readLockFile('.')

t.test('the SBOM has what that of npm has', async (t) => {
  // With `--omit dev`, npm leaves out what a development dependency needs too. There is none in the shrinkwrap.
  const folder = serverFolder(t, 'sbom')
  const { devDependencies: _, ...manifest } = JSON.parse(readFileSync('package.json', 'utf8'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(folder, 'npm-shrinkwrap.json'), JSON.stringify(shrinkwrapOf(lock)))
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

t.test('what npm packs beside the build is made for it, and taken away', async (t) => {
  const { files, scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  for (const name of files.filter((each: string) => !/^(?:dist|src)\b/.test(each)))
    for (const script of ['prepack', 'postpack'])
      t.ok(readFileSync(`deploy/package/${script}.ts`, 'utf8').includes(name), `${script}: ${name}`)
  t.match(scripts, { prepack: /prepack\.ts$/, postpack: /postpack\.ts$/ })
})
