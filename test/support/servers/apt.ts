/**
 * Gets a program from the packages of Debian or Ubuntu without root and without changing the machine: apt
 * works on state of its own in the cache folder, checks signatures as ever, and the packages are unpacked,
 * not installed.
 */

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder } from './cache.ts'

const HOUR = 3_600_000

/**
 * Packages that are large or of no use to a program that is not installed, and the C library, which must fit
 * the machine's loader.
 */
const NOT_NEEDED = /^(libllvm|perl|libperl|libc6|libc-bin|debconf|ssl-cert|postgresql-(client-)?common)/

/** Hooks of the machine's apt could change the machine. */
const CONFIG = (state: string) => `#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
Dir::State "${state}/state";
Dir::State::status "/var/lib/dpkg/status";
Dir::Cache "${state}/cache";
Dir::Log "${state}/log";
Acquire::Languages "none";
`

/** The name of a root without dependencies. */
const ALONE = 'alone'

export function hasApt(): boolean {
  return ['apt-get', 'apt-cache', 'dpkg-deb', 'flock'].every(hasProgram)
}

export function hasProgram(name: string): boolean {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.some((folder) => existsSync(join(folder, name)))
}

/**
 * Resolves with the folder of a package and of the dependencies that the machine lacks. The first caller
 * fetches them.
 */
export function unpacked(name: string): Promise<string> {
  return fetched(name, [])
}

/** Resolves with a root of the packages and of all dependencies. No package is configured. */
export function unpackedRoot(packages: readonly string[]): Promise<string> {
  return fetched('root', packages)
}

/** The same without dependencies. */
export function unpackedAlone(packages: readonly string[]): Promise<string> {
  return fetched(ALONE, packages)
}

async function fetched(name: string, packages: readonly string[]): Promise<string> {
  const system = createHash('sha256').update(readFileSync('/etc/os-release')).update(process.arch)
  const digest = system.update(packages.join(' ')).digest('hex')
  const final = join(cacheFolder(), `${name}-${digest.slice(0, 16)}`)
  // All that runs under the lock has it: commands outlive a process that is killed.
  const lock = [join(cacheFolder(), 'apt.lock'), process.execPath, import.meta.filename]
  if (!existsSync(final)) await output(cacheFolder(), 'flock', ...lock, name, final, ...packages)
  return final
}

/** Runs a command, and resolves with what it prints. */
async function output(cwd: string, command: string, ...args: string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' }
  const options = { cwd, env, maxBuffer: Infinity }
  const { stdout } = await promisify(execFile)(command, args, options).catch(({ stderr, message }) => {
    throw new Error(String(stderr).trim() || message)
  })
  return stdout
}

/** The folders of libraries, in the form of `LD_LIBRARY_PATH`. */
export function librariesOf(root: string): string {
  const files = globSync(
    ['usr/lib', 'lib'].flatMap((lib) => [`${lib}/*-linux-*/lib*.so*`, `${lib}/*-linux-*/*/lib*.so*`]),
    { cwd: root },
  )
  return [...new Set(files.map((file) => join(root, dirname(file))))].join(':')
}

/** Fetches and unpacks, in a process that holds the lock. */
async function fetch(name: string, final: string, packages: readonly string[]): Promise<void> {
  if (existsSync(final)) return
  const state = join(cacheFolder(), 'apt')
  for (const folder of ['state/lists/partial', 'cache/archives/partial', 'log'])
    mkdirSync(join(state, folder), { recursive: true })
  const config = join(state, 'apt.conf')
  writeFileSync(config, CONFIG(state))
  // Parts of processes that were killed.
  for (const part of globSync(`${basename(final)}-*`, { cwd: cacheFolder() }))
    rmSync(join(cacheFolder(), part), { recursive: true })
  const work = mkdtempSync(`${final}-`)
  try {
    const apt = (tool: string, ...args: string[]) => output(work, tool, '-c', config, ...args)
    const wanted = async () => {
      if (name === ALONE) return packages
      return packages.length > 0 ? allOf(packages, state, apt) : missing(name, apt)
    }
    await apt('apt-get', 'download', ...(await updated(state, wanted, apt)))
    for (const deb of globSync(join(work, '*.deb'))) {
      await output(work, 'dpkg-deb', '-x', deb, work)
      rmSync(deb)
    }
    // `nobody` must be able to run what root has fetched.
    chmodSync(work, 0o755)
    renameSync(work, final)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

type Apt = (tool: string, ...args: string[]) => Promise<string>

/** Asks the lists of packages, of this hour. */
async function updated<T>(state: string, ask: () => Promise<T>, apt: Apt): Promise<T> {
  const done = join(state, 'updated')
  if (!existsSync(done) || Date.now() - statSync(done).mtimeMs > HOUR) {
    await apt('apt-get', 'update', '-o', 'APT::Update::Error-Mode=any')
    writeFileSync(done, '')
  }
  try {
    return await ask()
  } catch (error) {
    // An older apt does not say that it got no lists.
    rmSync(done)
    throw error
  }
}

/** `package=version` of all that has to be fetched. */
async function missing(name: string, apt: Apt): Promise<string[]> {
  // What is installed is fetched again if it is the program itself; its libraries are taken from the machine.
  const wanted = [name, ...familyIn(await apt('apt-cache', 'depends', name), name)]
  const found = await filesOf(apt, '--reinstall', ...wanted)
  return found.filter((each) => !NOT_NEEDED.test(each))
}

/** The same of the packages and all they depend on. */
function allOf(packages: readonly string[], state: string, apt: Apt): Promise<string[]> {
  const none = join(state, 'none')
  writeFileSync(none, '')
  return filesOf(apt, '-o', `Dir::State::status=${none}`, ...packages)
}

async function filesOf(apt: Apt, ...args: string[]): Promise<string[]> {
  const text = await apt('apt-get', 'install', '--no-install-recommends', '--print-uris', '-y', ...args)
  const files = [...text.matchAll(/^'[^']*' ([^_ ]+)_([^_ ]+)_[^_ ]+\.deb /gm)]
  return files.map(([, found = '', version = '']) => `${found}=${decodeURIComponent(version)}`)
}

/** Debian parts a program into packages of one first word: `postgresql` and `postgresql-15`. */
function familyIn(depends: string, name: string): string[] {
  const [family = name] = name.split('-')
  const names = [...depends.matchAll(/^ {2}Depends: (\S+)$/gm)].map(([, each = '']) => each)
  return names.filter((each) => each.startsWith(`${family}-`))
}

if (import.meta.main) {
  const [, , name = '', final = '', ...packages] = process.argv
  await fetch(name, final, packages).catch((error: Error) => {
    console.error(error.message)
    process.exitCode = 1
  })
}
