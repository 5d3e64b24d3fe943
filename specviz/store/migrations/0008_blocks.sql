-- What else used the machine while a block was measured, and which requests were measured again.

CREATE TABLE blocks (
    block            VARCHAR NOT NULL,
    benchmark_id     VARCHAR NOT NULL,
    run_id           VARCHAR NOT NULL,
    round_id         VARCHAR NOT NULL,
    watched          VARCHAR NOT NULL,
    wall_s           DOUBLE NOT NULL,
    others_share     DOUBLE,
    steal_share      DOUBLE,
    throttled_share  DOUBLE,
    gpu_others_share DOUBLE,
    is_disturbed     BOOLEAN NOT NULL,
    repeats          VARCHAR
);
COMMENT ON TABLE blocks IS 'One block of a benchmark, and what else used the machine meanwhile; blocks that a crash cut short have no row';
COMMENT ON COLUMN blocks.block IS 'Id of the block, as in samples';
COMMENT ON COLUMN blocks.benchmark_id IS 'Benchmark the block belongs to';
COMMENT ON COLUMN blocks.run_id IS 'Run the block belongs to';
COMMENT ON COLUMN blocks.round_id IS 'Round the block belongs to';
COMMENT ON COLUMN blocks.watched IS 'this machine, the client only (the server is on another machine) or nothing (the server''s process cannot be found)';
COMMENT ON COLUMN blocks.wall_s IS 'How long the block took, s';
COMMENT ON COLUMN blocks.others_share IS 'Share of the processor that other processes used, 0 to 1; short blocks in a row share one figure';
COMMENT ON COLUMN blocks.steal_share IS 'Share of the processor that the host of this virtual machine gave to others, 0 to 1';
COMMENT ON COLUMN blocks.throttled_share IS 'Share of the processor that the limit of our control group withheld, 0 to 1; empty where it cannot be read';
COMMENT ON COLUMN blocks.gpu_others_share IS 'Share of the GPU that other processes used, 0 to 1; empty without a GPU or where the driver does not say';
COMMENT ON COLUMN blocks.is_disturbed IS 'Others took so much that the times may be too long';
COMMENT ON COLUMN blocks.repeats IS 'Disturbed block whose requests it sent again; empty for the first measurement';

COMMENT ON COLUMN requests.status IS 'running, finished, partial (interrupted, what arrived is kept), failed, cancelled or set aside (finished and measured twice, because something else used the machine; the other measurement is in the figures)';
