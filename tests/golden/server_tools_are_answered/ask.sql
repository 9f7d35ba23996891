-- session: no call of the API's own is waiting for anybody
select pending_tool from sessions;

-- completeness: nothing was interrupted
select reason, things from completeness order by reason;
