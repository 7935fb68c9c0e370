# The topology of Section 4, Figure 3: everything crosses one drop-tail bottleneck.
# ns dumbbell.tcl NETWORK SECONDS SEED TRACE
#   NETWORK: a Tcl file as topology.py writes it, TRACE: 1 to write what the video's access links do to standard output
# The last lines: per transfer, the video first, packets acknowledged; then packets sent by all senders (not those of browsers, which reset them), the video's
# packets sent, its mean retransmission timer [s], CPU seconds without start-up.
lassign $argv network seconds seed trace

remove-all-packet-headers
add-packet-header Flags IP TCP
set ns [new Simulator]
$defaultRNG seed $seed
source $network
# rate [bit/s], delay [s], queue [packets], jitter [s]: `bottleneck`
# number, left and right access delay [s]: `pairs`
# number of the pair, start [s], rate of a live source [packets/s] or 0: `transfers`
# number of the pair, start [s], first request: `connections`; their requests: `thinks`, `answers`
# number of the pair, start [s]: `browsers`; where Http is: `http`, where its data are: `data`
lassign $bottleneck rate delay queue jitter

Agent/TCP set window_ 64
Agent/TCP set packetSize_ 1460
Agent/TCP set windowInit_ 2
Agent/TCP set syn_ false
Agent/TCP set delay_growth_ false
Agent/TCP set tcpTick_ 0.1
Agent/TCP set minrto_ 0
Agent/TCP set overhead_ $jitter

set west [$ns node]
set east [$ns node]
$ns duplex-link $west $east $rate $delay DropTail
$ns queue-limit $west $east $queue
$ns queue-limit $east $west $queue
foreach {pair left right} $pairs {
    set sender($pair) [$ns node]
    set receiver($pair) [$ns node]
    foreach {from to access} [list $sender($pair) $west $left $east $receiver($pair) $right] {
        $ns duplex-link $from $to 100Mb $access DropTail
        $ns queue-limit $from $to 1000
        $ns queue-limit $to $from 1000
    }
}

proc connection {pair} {
    global ns sender receiver sinks before
    set tcp [new Agent/TCP/Reno]
    set sinks($tcp) [new Agent/TCPSink]
    set before($tcp) 0
    $ns attach-agent $sender($pair) $tcp
    $ns attach-agent $receiver($pair) $sinks($tcp)
    $ns connect $tcp $sinks($tcp)
    return $tcp
}

set senders {}
foreach {pair start live} $transfers {
    set tcp [connection $pair]
    lappend senders $tcp
    if {$live > 0} {
        set application [new Application/Traffic/CBR]
        $application set packetSize_ 1460
        $application set interval_ [expr {1.0 / $live}]
        $application set random_ 0
    } else {
        set application [new Application/FTP]
    }
    $application attach-agent $tcp
    $ns at $start "$application start"
}
set video [lindex $senders 0]

# Packets that a sender has sent; a reset sets its own counter to zero.
proc sent {tcp} {
    global before
    return [expr {$before($tcp) + [$tcp set ndatapack_]}]
}

# A new connection for each answer.
proc answer {tcp} {
    global answers request sinks applications before
    set before($tcp) [sent $tcp]
    $tcp reset
    $sinks($tcp) reset
    $applications($tcp) producemore [lindex $answers $request($tcp)]
    set request($tcp) [expr {($request($tcp) + 1) % [llength $answers]}]
}
proc answered {tcp} {
    global ns thinks request
    $ns at [expr {[$ns now] + [lindex $thinks $request($tcp)]}] "answer $tcp"
}
set web {}
foreach {pair start first} $connections {
    set tcp [connection $pair]
    lappend web $tcp
    set applications($tcp) [new Application/FTP]
    $applications($tcp) attach-agent $tcp
    set request($tcp) $first
    $tcp proc done {} "answered $tcp"
    $ns at $start "answer $tcp"
}

if {[llength $browsers]} {
    source $http
    foreach {parameter file} {rvClientTime HttpThinkTime rvReqLen HttpRequestLength rvRepLen HttpReplyLength
            rvImgLen HttpReplyLength rvNumImg HttpConnections} {
        Http setCDF $parameter $data/$file.cdf
    }
    Http set maxConn_ 16
    foreach {pair start} $browsers {
        set browser [new Http $ns $receiver($pair) $sender($pair)]
        foreach tcp [$browser agents] {
            lappend web $tcp
            set before($tcp) 0
        }
        $ns at $start "$browser start"
    }
}

if {$trace} {
    $ns trace-queue $sender(0) $west stdout
    $ns trace-queue $west $sender(0) stdout
    $ns trace-queue $east $receiver(0) stdout
}

set timers 0.0
set timings 0
proc timing {} {
    global ns video timers timings
    set timers [expr {$timers + (int([$video set rttvar_] * 8 + [$video set srtt_]) >> 3) * 0.1}]
    incr timings
    $ns at [expr {[$ns now] + 0.5}] timing
}
$ns at 25.0 timing

# CPU seconds of this process so far.
proc times {} {
    set file [open /proc/self/stat]
    set fields [read $file]
    close $file
    return [expr {([lindex $fields 13] + [lindex $fields 14]) / 100.0}]
}
proc finish {} {
    global ns senders web video timers timings started
    $ns flush-trace
    set sent 0
    foreach tcp [concat $senders $web] {
        incr sent [sent $tcp]
    }
    set acked {}
    foreach tcp $senders {
        lappend acked [expr {[$tcp set ack_] + 1}]
    }
    puts "acked $acked"
    puts "end $sent [$video set ndatapack_] [expr {$timers / $timings}] [expr {[times] - $started}]"
    exit 0
}
set started [times]
$ns at $seconds finish
$ns run
