/**
 * PostgreSQL under Patroni, with etcd and HAProxy, is promoted, demoted, parted and frozen: gateways go on without a restart, no
 * decision is stale, and no acknowledged write is lost.
 */

import t from 'tap'
import { whyNoPatroni } from '../support/servers/patroni.ts'
import { THOROUGH } from '../support/thorough.ts'
import { until } from '../support/until.ts'
import { type Drill, drills } from './drill.ts'

const usual = {
  async 'a switchover: the standby is promoted, the primary demoted'({ t, primary }: Drill) {
    t.equal((await primary.ask('/switchover', { leader: primary.name }))?.status, 200)
  },

  async 'the primary is parted from etcd'({ primary, cluster, load }: Drill) {
    await cluster.replace(primary, () => primary.toEtcd.freeze())
    await load.written(20)
    await primary.toEtcd.heal()
  },

  /** Nothing ends its PostgreSQL, which goes on as a primary: HAProxy closes the connections. */
  async 'the manager of the primary is frozen'({ primary, cluster, load }: Drill) {
    await cluster.replace(primary, () => primary.freezeManager())
    await load.written(20)
    primary.thawManager()
  },
}

const thorough = {
  async 'the machine of the primary is frozen'({ primary, cluster, load }: Drill) {
    await cluster.replace(primary, () => primary.freeze())
    await load.written(20)
    primary.thaw()
  },

  async 'etcd is frozen: the primary is demoted'({ primary, cluster }: Drill) {
    await cluster.etcd.freeze()
    await until(async () => !(await primary.isPrimary()), 'the end of the primary', { patience: 120_000 })
    cluster.etcd.thaw()
  },
}

t.test('a fleet on PostgreSQL under Patroni', { skip: await whyNoPatroni() }, (t) =>
  drills(t, THOROUGH ? { ...usual, ...thorough } : usual),
)
