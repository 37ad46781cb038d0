/** An installation has the versions of the lock file, from a file and from a registry, and the package's inventories name them. */

import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { nameOf, readLockFile, runtimePackages } from '../../deploy/package/lock-file.ts'
import type { Sbom } from '../../deploy/package/sbom.ts'
import { listen } from '../support/listen.ts'
import { serverFolder } from '../support/servers/folder.ts'
import { packCopy } from './clone-copy.ts'
import { installedPackages } from './installed-packages.ts'
import { npm } from './node-versions.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const archive = packCopy(t)
const left = readdirSync(join(archive, '..')).filter((name) => /shrinkwrap|sbom|THIRD|json\.clone/.test(name))
const locked = [...runtimePackages(readLockFile(root))].map(
  ([path, { version }]) => `${nameOf(path)}@${version}`,
)
const expected = [...new Set(locked)].sort()

/** Installs into an empty folder. @returns the folder `node_modules` */
async function install(t: Test, ...args: string[]): Promise<string> {
  const folder = serverFolder(t, 'installed')
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const words = ['-u', 'NODE_OPTIONS', 'npm', 'install', '--prefer-offline', ...args]
  await promisify(execFile)('env', words, { cwd: folder })
  const modules = join(folder, 'node_modules')
  const packages = installedPackages(modules).filter((each) => !each.startsWith('seatgate@'))
  t.same(packages, expected)
  return modules
}

t.test('from a file', async (t) => {
  t.same(left, [], 'npm pack leaves nothing in the clone')
  const own = join(await install(t, archive), 'seatgate')
  t.comment(`${expected.length} packages beside Seatgate`)

  const { components }: Sbom = JSON.parse(readFileSync(join(own, 'sbom.cdx.json'), 'utf8'))
  const [inside, beside] = [true, false].map((isInside) =>
    components.filter(({ properties }) => (properties !== undefined) === isInside),
  )
  t.same(beside?.map((each) => each['bom-ref']).sort(), expected)
  for (const name of ['preact', 'htm', '@preact/signals', '@preact/signals-core', 'pino-pretty', 'colorette'])
    t.ok(
      inside?.some((each) => each.name === name),
      `${name} is inside`,
    )
  const licenses = readFileSync(join(own, 'THIRD_PARTY_LICENSES'), 'utf8')
  for (const { name, version } of components) t.ok(licenses.includes(`\n${name} ${version} (`), name)
  const shrinkwrap = JSON.parse(readFileSync(join(own, 'npm-shrinkwrap.json'), 'utf8'))
  t.equal(Object.keys(shrinkwrap.packages).length, locked.length + 1)
  t.notMatch(JSON.stringify(shrinkwrap), /"(?:resolved|dev|devDependencies)":/)
})

t.test('from a registry, which says that the package has a shrinkwrap', async (t) => {
  const content = readFileSync(archive)
  const words = ['-xzOf', archive, 'package/package.json']
  const manifest = JSON.parse(execFileSync('tar', words, { encoding: 'utf8' }))
  const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`
  const others = npm(root, 'config', 'get', 'registry').trim().replace(/\/$/, '')
  const server = createServer(({ url = '' }, response) => {
    if (url === '/seatgate.tgz') return void response.end(content)
    if (url !== '/seatgate') return void response.writeHead(302, { location: others + url }).end()
    const tarball = `http://127.0.0.1:${port}/seatgate.tgz`
    const version = { ...manifest, _hasShrinkwrap: true, dist: { tarball, integrity } }
    const versions = { [manifest.version]: version }
    response.end(JSON.stringify({ name: 'seatgate', 'dist-tags': { latest: manifest.version }, versions }))
  })
  const port = await listen(t, server)
  const modules = await install(t, '--registry', `http://127.0.0.1:${port}`, 'seatgate')
  t.same(
    readdirSync(modules).filter((name) => !name.startsWith('.')),
    ['seatgate'],
    'below it',
  )
})
