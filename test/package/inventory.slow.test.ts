/** An installation has the versions of the lock file, from a file and from a registry, and the package's inventories name them. */

import { execFile } from 'node:child_process'
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

const root = fileURLToPath(new URL('../..', import.meta.url))
const archive = packCopy(t)
const left = readdirSync(join(archive, '..')).filter((name) => /shrinkwrap|sbom|THIRD/.test(name))
const locked = [...runtimePackages(readLockFile(root))].map(
  ([path, { version }]) => `${nameOf(path)}@${version}`,
)
const expected = [...new Set(locked)].sort()

/** An empty folder with an empty cache, in which npm installs. @returns the folder of the package */
async function install(t: Test, ...args: string[]): Promise<string> {
  const folder = serverFolder(t, 'installed')
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const words = ['-u', 'NODE_OPTIONS', 'npm', 'install', '--cache', join(folder, 'cache'), ...args]
  await promisify(execFile)('env', words, { cwd: folder })
  t.same(
    readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.')),
    ['seatgate'],
  )
  return join(folder, 'node_modules/seatgate')
}

t.test('from a file, without a registry', async (t) => {
  const own = await install(t, '--offline', archive)
  t.same(installedPackages(join(own, 'node_modules')), expected)
  t.same(left, [], 'npm pack leaves nothing in the clone')

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

t.test('from a registry, which is asked for nothing else', async (t) => {
  const content = readFileSync(archive)
  const paths: string[] = []
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`
  const server = createServer(({ url = '' }, response) => {
    paths.push(url)
    if (url.endsWith('.tgz')) return void response.end(content)
    if (url !== '/seatgate') return void response.writeHead(404).end()
    const tarball = `http://127.0.0.1:${port}/seatgate.tgz`
    const version = { ...manifest, _hasShrinkwrap: true, dist: { tarball, integrity } }
    const versions = { [manifest.version]: version }
    response.end(JSON.stringify({ name: 'seatgate', 'dist-tags': { latest: manifest.version }, versions }))
  })
  const port = await listen(t, server)
  const own = await install(t, '--registry', `http://127.0.0.1:${port}`, 'seatgate')
  t.same(installedPackages(join(own, 'node_modules')), expected)
  t.same(paths, ['/seatgate', '/seatgate.tgz'])
})
