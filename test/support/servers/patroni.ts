/**
 * A real cluster of three PostgreSQL under Patroni, with one etcd, and HAProxy at the address for clients. A
 * commit waits for a synchronous standby, also if there is none.
 */

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import { until } from '../until.ts'
import { findProgram } from './binaries.ts'
import { queryOnce } from './clients.ts'
import { Etcd } from './etcd.ts'
import { HaProxy } from './haproxy.ts'
import { findPostgres } from './postgres-template.ts'
import { type AfterCrash, keepsLock, PATIENCE, PatroniNode } from './patroni-node.ts'

interface Member {
  readonly name: string
  readonly role: 'leader' | 'sync_standby' | 'replica'
  readonly state: string
  readonly timeline?: number
}

export class PatroniCluster {
  readonly nodes: readonly PatroniNode[]
  readonly etcd: Etcd
  readonly haproxy: HaProxy

  private constructor(nodes: readonly PatroniNode[], etcd: Etcd, haproxy: HaProxy) {
    this.nodes = nodes
    this.etcd = etcd
    this.haproxy = haproxy
  }

  /** @param section of HAProxy's configuration, with servers of these names */
  static async start(t: Test, section: string, afterCrash: AfterCrash): Promise<PatroniCluster> {
    const etcd = await Etcd.start(t, { v2: !(await keepsLock()) })
    const nodes = await Promise.all(
      ['db1', 'db2', 'db3'].map((name) => PatroniNode.make(t, name, etcd, afterCrash)),
    )
    const cluster = new PatroniCluster(nodes, etcd, await HaProxy.start(t, nodes, section))
    const [first, ...others] = nodes
    await first?.start()
    await cluster.primary()
    await Promise.all(others.map((node) => node.start()))
    await cluster.settled()
    return cluster
  }

  /** The address for clients. */
  get port(): number {
    return this.haproxy.port
  }

  /** Resolves with the primary, once there is one other than this. */
  primary(than: PatroniNode | null = null): Promise<PatroniNode> {
    const others = this.nodes.filter((node) => node !== than && node.running)
    const look = async () => {
      const primary = await Promise.all(others.map((node) => node.isPrimary()))
      return others[primary.indexOf(true)]
    }
    return until(look, () => `no primary:\n${this.#logs}`, { patience: PATIENCE })
  }

  /**
   * Resolves once another is the primary after this fault, and not before HAProxy has closed the connections
   * to the one that has it: the seconds that a manager leaves for it may not suffice on a busy machine.
   */
  async replace(primary: PatroniNode, fault: () => Promise<void> | void): Promise<void> {
    const isLeft = this.haproxy.leaving(primary.name)
    const others = this.nodes.filter((node) => node !== primary)
    await Promise.all(others.map((node) => node.freezeManager()))
    await fault()
    await until(isLeft, () => `HAProxy stays:\n${this.haproxy.log}`, { patience: PATIENCE })
    for (const node of others) node.thawManager()
    await this.primary(primary)
  }

  /** Resolves once all nodes follow one primary, and commits wait for one of them. */
  async settled(): Promise<void> {
    const isSo = async () => {
      const seen = await Promise.all(this.nodes.map((node) => node.ask('/cluster')))
      const each = await Promise.all(seen.map(async (answer) => (answer ? memberList(answer) : [])))
      return each.every((members) => isWhole(members, this.nodes.length))
    }
    await until(isSo, () => `the cluster does not settle:\n${this.#logs}`, { pause: 100, patience: PATIENCE })
  }

  /** Makes an empty database at the address for clients, and gives its URL. */
  async createDatabase(name: string): Promise<string> {
    await until(
      () =>
        this.query(`CREATE DATABASE ${name}`).then(
          () => true,
          () => false,
        ),
      'a database at the address of the cluster',
    )
    return this.#urlOf(name)
  }

  /** One statement as the superuser at the address for clients, on a connection of its own. */
  query(text: string, values: unknown[] = [], database = 'postgres'): Promise<Record<string, unknown>[]> {
    return queryOnce(
      { connectionString: this.#urlOf(database), connectionTimeoutMillis: 10_000 },
      text,
      values,
    )
  }

  #urlOf(database: string): string {
    const [node] = this.nodes
    if (node === undefined) throw new Error('the cluster has no nodes')
    return node.urlOf(database, this.port)
  }

  get #logs(): string {
    return this.nodes.map(({ name, log }) => `--- ${name}\n${log.slice(-1500)}`).join('\n')
  }
}

async function memberList(answer: Response): Promise<readonly Member[]> {
  const { members = [] } = (await answer.json()) as { members?: readonly Member[] }
  return members
}

function isWhole(members: readonly Member[], count: number): boolean {
  const roles = members.map(({ role }) => role)
  const timelines = new Set(members.map(({ timeline }) => timeline))
  const isUp =
    members.length === count && members.every(({ state }) => ['running', 'streaming'].includes(state))
  return isUp && timelines.size === 1 && roles.includes('leader') && roles.includes('sync_standby')
}

/** The reason why a cluster cannot be started here, by what is missing. */
export async function whyNoPatroni(): Promise<string | false> {
  try {
    for (const name of ['patroni', 'etcd', 'haproxy'] as const) await findProgram(name)
    await keepsLock()
    const { program } = await findPostgres()
    const command = join(dirname(program.path), 'pg_isready')
    return existsSync(command)
      ? false
      : `Patroni needs ${command}: install it (apt install postgresql-client).`
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause)
  }
}
