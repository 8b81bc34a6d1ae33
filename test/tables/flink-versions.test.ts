/** The range of Flink releases of a snapshot is one fact, wherever it is shown. */
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { tableObjects } from '../../src/cli/table-rows.js';
import { buildStateInfo } from '../../src/stateinfo/build.js';
import { openSnapshot } from '../../src/tables/snapshot.js';
import { ensureBuilt, statequery } from '../cli/run.js';
import { fixture } from './support.js';

const KINDS = fixture('2.3-kinds-forst-incremental-v2async-p1');

describe('flink_versions', () => {
  beforeAll(ensureBuilt);
  it('of the table and of a stateInfo file have the evidence of serializers, which is read for who asks', () => {
    const snapshot = openSnapshot(KINDS);
    const known = snapshot.flinkVersions();
    const asked = vi.spyOn(snapshot, 'flinkVersions').mockReturnValue({ ...known, text: 'from serializers' });
    const bound = snapshot.catalog.find('snapshot')?.bind([]);
    bound?.scan({ columns: [{ name: 'kind', form: 'value' }], filters: [] }).next();
    expect(asked).not.toHaveBeenCalled();
    expect(tableObjects(snapshot, 'snapshot')[0]['flink_versions']).toBe('from serializers');
    expect(buildStateInfo(snapshot, { writtenBy: 'test' }).flinkVersions).toBe('from serializers');
    snapshot.close();
  });
  it('is the same in meta and in SQL; other columns read no state file', async () => {
    const meta = JSON.parse((await statequery(['meta', KINDS, '--json'])).stdout) as { snapshot: { flink_versions: string } };
    const page = await statequery(['meta', KINDS]);
    const sql = await statequery(['sql', 'SELECT flink_versions FROM snapshot', KINDS, '-o', 'list', '--no-header']);
    expect(sql.stdout).toBe(`${meta.snapshot.flink_versions}\n`);
    expect(page.stdout).toContain(`Flink       ${meta.snapshot.flink_versions} (metadata version`);
    const kind = await statequery(['sql', 'SELECT kind, total_size_in_bytes FROM snapshot', KINDS, '-v', '--csv']);
    expect(kind.stderr).toMatch(/\n1 files opened, /);
  });
});
