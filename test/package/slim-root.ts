/**
 * A root as a slim image of Node.js has it: the essential packages of the machine's distribution, Node.js and npm. There is no
 * libatomic in it, no git, no curl and no compiler. The network is the machine's, and so is npm's cache.
 */

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { hasApt, unpackedAlone, unpackedRoot } from '../support/servers/apt.ts'
import { nodeOf, npmCache, npmOf, npmSettings } from './node-versions.ts'
import { serverFolder } from '../support/servers/folder.ts'

const ESSENTIAL =
  'base-files bash coreutils dash diffutils findutils grep gzip hostname libc-bin libstdc++6 perl-base sed tar util-linux'
/** Packages of images without a shell, but for libssl3, which Node.js has inside. */
const WITHOUT_SHELL =
  'base-files ca-certificates libc6 libgcc-s1 libgomp1 libstdc++6 media-types netbase tzdata'
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** The certificates that npm trusts on the machine, in a root. */
const AUTHORITIES = '/etc/ssl/machine.pem'

/** Why there can be no root here; false: there can. */
export function noRoots(): string | false {
  if (!hasApt()) return 'this machine has no apt'
  const isAllowed = spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status === 0
  return isAllowed && process.getuid?.() === 0 ? false : 'only root can change the root of a process'
}

export interface Command {
  /** In the root. */
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly uid?: number
  /** Folders that can be written in a root that can't be; left out: all of the root can be written. */
  readonly writable?: readonly string[]
}

/** A test, or whatever else ends what it starts. */
export type Owner = Pick<Test, 'teardown'>

interface Versions {
  readonly node: string
  readonly npm: string
}

/** With mounts and process ids of its own. Its child is the first process of the root, as in a container. */
const ENTER = `set -e
root=$1 cache=$2 isReadOnly=$3 writable=$4; shift 4
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --make-rslave "$root/dev"
mount --bind "$cache" "$root/root/.npm"
for each in $writable; do mount --bind "$root$each" "$root$each"; done
if $isReadOnly; then mount -o remount,bind,ro "$root"; fi
exec "$@"`

/** A program in a root or in a container. */
export class Started {
  readonly child: ChildProcess
  readonly ended: Promise<number | null>
  /** Resolves with the process id of the first process, as the machine counts. */
  readonly pid: () => Promise<number>
  out = ''

  constructor(child: ChildProcess, pid = async () => childOf(child)) {
    this.child = child
    this.pid = pid
    this.ended = new Promise((resolve) => child.once('close', resolve))
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.out += chunk.toString()))
  }

  /** Resolves once it has printed the text. */
  async prints(text: string): Promise<void> {
    const printed = new Promise<void>((resolve) => {
      this.child.stdout?.on('data', () => this.out.includes(text) && resolve())
    })
    const status = await Promise.race([printed, this.ended.then((ended) => ended ?? 'killed')])
    if (status !== undefined) throw new Error(`${status}: ${this.out}`)
  }
}

/** The process id of the only child of a process. */
function childOf({ pid }: ChildProcess): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'))
}

/** Fills a folder with the files of an image `node:VERSION-slim`. */
export async function slimFiles(folder: string, versions: Versions): Promise<void> {
  copyInto(folder, await unpackedRoot(ESSENTIAL.split(' ')))
  const bin = join(folder, 'usr/local/bin')
  const modules = join(folder, 'usr/local/lib/node_modules')
  cpSync(join(nodeOf(versions.node), 'node'), join(bin, 'node'))
  cpSync(npmOf(versions.npm), join(modules, 'npm'), { recursive: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(bin, 'npm'))
}

/** The same of an image without a shell, with Node.js at the place where such images have it. */
export async function distrolessFiles(folder: string, version: string): Promise<void> {
  copyInto(folder, await unpackedAlone(WITHOUT_SHELL.split(' ')))
  for (const each of ['doc', 'lintian', 'locale', 'man'])
    rmSync(join(folder, 'usr/share', each), { recursive: true, force: true })
  cpSync(join(nodeOf(version), 'node'), join(folder, 'nodejs/bin/node'))
}

function copyInto(folder: string, from: string): void {
  execFileSync('cp', ['-a', `${from}/.`, folder])
  execFileSync('chmod', ['755', folder])
  execFileSync('chmod', ['1777', join(folder, 'tmp')])
}

export class Root {
  readonly folder: string
  /** Of npm, on the machine. */
  readonly #cache: string

  /** @param folder its files */
  constructor(folder: string) {
    this.folder = folder
    for (const each of ['dev', 'etc', 'proc', 'tmp', 'root/.npm'])
      mkdirSync(this.path(each), { recursive: true })
    for (const each of ['hosts', 'resolv.conf']) cpSync(join('/etc', each), this.path(`etc/${each}`))
    this.#cache = npmCache()
  }

  static async slim(t: Test, versions: Versions): Promise<Root> {
    const folder = serverFolder(t, 'root')
    await slimFiles(folder, versions)
    const root = new Root(folder)
    root.#configureNpm()
    return root
  }

  path(inside: string): string {
    return join(this.folder, inside)
  }

  #configureNpm(): void {
    const { npmrc, authorities } = npmSettings(AUTHORITIES)
    mkdirSync(this.path('etc/ssl'), { recursive: true })
    if (authorities !== null) cpSync(authorities, this.path(AUTHORITIES), { dereference: true })
    writeFileSync(this.path('root/.npmrc'), npmrc)
  }

  /** Runs a program to its end. @returns its output; rejects with it */
  async run(t: Owner, args: readonly string[], command: Command = {}): Promise<string> {
    const started = this.start(t, args, command)
    const status = await started.ended
    if (status !== 0) throw new Error(`${args.join(' ')}: ${status}\n${started.out}`)
    return started.out
  }

  /** Starts a program. It ends with the test. */
  start(t: Owner, args: readonly string[], command: Command = {}): Started {
    const started = new Started(
      spawn('unshare', this.#line(args, command), { stdio: ['ignore', 'pipe', 'pipe'] }),
    )
    t.teardown(async () => {
      started.child.kill('SIGKILL')
      await started.ended
    })
    return started
  }

  /** Of `unshare`. */
  #line(args: readonly string[], { cwd = '/', env = {}, uid = 0, writable }: Command): string[] {
    const mounts = [this.folder, this.#cache, String(writable !== undefined), writable?.join(' ') ?? '']
    const proxies = Object.entries(process.env).filter(([name]) => /^(https?|no)_proxy$/i.test(name))
    const variables = { PATH, HOME: uid === 0 ? '/root' : '/', ...Object.fromEntries(proxies), ...env }
    const words = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
    const inside = [`--root=${this.folder}`, `--wd=${cwd}`, `--setgid=${uid}`, `--setuid=${uid}`]
    return [
      ...['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', ENTER, 'sh', ...mounts],
      ...['env', '-i', ...words, 'unshare', ...inside, ...args],
    ]
  }
}
